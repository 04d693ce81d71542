import { REDACTED } from '../../core/redact.ts';
import type { FinalState } from '../../evidence/run-record.ts';
import { listTouched, makeAstrayTest } from '../../evidence/touched-paths.ts';
import { isLink, listTree, readFinalState } from '../../launch/aftermath.ts';
import { digestImage } from '../../launch/image-digest.ts';
import { type InsideView, toHostPath } from '../../launch/inside-path.ts';
import type { Event, Program } from '../../observe/event.ts';
import { decodeName, encodeName } from '../../observe/name-bytes.ts';
import type { Recording } from '../../observe/recorder.ts';

/** Names below moved directories, at most; what is beyond is missing from the net changes. */
const MAX_MOVED = 100_000;

function toHost(path: string, view: InsideView): Buffer | null {
  if (path.includes(REDACTED)) return null; // its real name is not known any more
  const host = toHostPath(path, view);
  return host === null ? null : encodeName(host);
}

/** Whether what a path leads to now is something else, since a link stands in the way. */
function leadsAstray(events: readonly Event[], view: InsideView): (path: string) => boolean {
  return makeAstrayTest(events, (path) => {
    const host = toHost(path, view);
    return host !== null && isLink(host);
  });
}

/** How what the run has touched is at its end. */
export function readFinalStates(
  events: readonly Event[],
  view: InsideView,
): Map<string, FinalState> {
  const states = new Map<string, FinalState>();
  const isAstray = leadsAstray(events, view);
  for (const [path, before] of listTouched(events)) {
    const host = toHost(path, view);
    if (host === null) continue;
    states.set(path, isAstray(path) ? 'absent' : readFinalState({ host, before }));
  }
  return states;
}

export function readMovedContents(
  events: readonly Event[],
  view: InsideView,
): Map<string, string[]> {
  const contents = new Map<string, string[]>();
  const isAstray = leadsAstray(events, view);
  let left = MAX_MOVED;
  for (const event of events) {
    if (event.kind !== 'file' || event.op !== 'rename' || event.outcome !== 'ok') continue;
    const { target, isDirectory } = event;
    if (target === undefined || isDirectory !== true || contents.has(target)) continue;
    const host = toHost(target, view);
    const names = host === null || isAstray(target) ? [] : listTree(host, left);
    left -= names.length;
    contents.set(
      target,
      names.map((name) => decodeName(name.toString('latin1'))),
    );
  }
  return contents;
}

/** Programs with the digests of those images that the helper left to us. */
export function addDigests(
  { programs, images }: Pick<Recording, 'programs' | 'images'>,
  view: InsideView,
): Program[] {
  const known = new Map<string, string | undefined>();
  return programs.map((program) => {
    const state = images.get(program.id);
    const host = toHost(program.image, view);
    if (program.digest !== undefined || !state || host === null) return program;
    const key = `${state.dev}:${state.ino}:${state.ctimeNs}`;
    if (!known.has(key)) known.set(key, digestImage(host, state));
    const digest = known.get(key);
    return digest === undefined ? program : { ...program, digest };
  });
}
