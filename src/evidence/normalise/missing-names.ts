import type { RunRecord } from '../run-record.ts';
import type { Places } from './places.ts';
import { splitPath } from './split-path.ts';
import { MISSING } from './walks.ts';

/**
 * What was looked for in the private tmp or /dev/shm and was not there, with the directories on the way to it: a name
 * that a program has made up there may never come into being, as in `mkdir -p`, which starts at the far end.
 */
export function listMissing({ events }: RunRecord, places: Places): readonly string[] {
  const found = new Set<string>();
  for (const event of events) {
    if (!('outcome' in event) || !MISSING.has(event.outcome)) continue;
    if (event.kind === 'network' ? event.family !== 'unix' : false) continue;
    const path = event.kind === 'network' ? event.host : event.path;
    const zone = places.zones.find((directory) => path.startsWith(`${directory}/`));
    if (zone === undefined) continue;
    for (let at = path; at.length > zone.length && !found.has(at); at = splitPath(at).directory) {
      if (places.tokens.has(at) || places.isAbove(at)) break;
      found.add(at);
    }
  }
  return [...found];
}
