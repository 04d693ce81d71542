import { normalize } from 'node:path/posix';

import type { Event } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import { isInMemory } from './special-paths.ts';

/** A path that leads nowhere is recorded as it was asked for. This makes it one with the path that it would have. */
export function makePathCleaner({
  variables: { tmpdir },
  privateTmp: [seenAt = tmpdir],
}: RunRecord): (path: string) => string {
  const isAlias = tmpdir.startsWith(`${seenAt}/`);
  return (path) => {
    // The label of a file in memory is any text that its maker likes, and no steps of a path.
    if (!path.startsWith('/') || path === '/' || isInMemory(path)) return path;
    const clean = /\/\.{0,2}(?:\/|$)/.test(path) ? normalize(path).replace(/(?<=.)\/$/, '') : path;
    return isAlias && clean.startsWith(`${tmpdir}/`) ? seenAt + clean.slice(tmpdir.length) : clean;
  };
}

export function cleanEvent(event: Event, clean: (path: string) => string): Event {
  if (event.kind === 'exec') return withPath(event, clean(event.path));
  if (event.kind !== 'file') return event;
  const { op, target } = event;
  const cleaned = withPath(event, clean(event.path));
  if (target === undefined || (op !== 'rename' && op !== 'link')) return cleaned;
  const cleanTarget = clean(target);
  return cleanTarget === target ? cleaned : { ...cleaned, target: cleanTarget };
}

function withPath<T extends { readonly path: string }>(event: T, path: string): T {
  return path === event.path ? event : { ...event, path };
}
