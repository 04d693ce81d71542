import { isRedacted } from '../../core/redaction-mark.ts';
import { isTemporary } from '../../evidence/changes.ts';
import { compareStates } from '../../evidence/final-state.ts';
import { type Aftermath, type FinalState, MAX_MOVED } from '../../evidence/run-record.ts';
import { listMovedDirectories, listTouched, makeAstrayTest } from '../../evidence/touched-paths.ts';
import { isLink, listTree, readState } from '../../launch/aftermath.ts';
import { type InsideView, toHostPath } from '../../launch/inside-path.ts';
import type { Event } from '../../observe/event.ts';
import { showBelow, type ShownNames } from '../../observe/shown-names.ts';
import { decodeName, encodeName } from '../../core/name-bytes.ts';
import type { Variables } from '../../policy/policy.ts';

/** Where a file of the run is for us; null when nobody can tell. */
export type Locate = (path: string) => Buffer | null;

export function makeLocate(names: ShownNames, view: InsideView): Locate {
  return (path) => {
    const real = names.find(path);
    const host = real === undefined ? null : toHostPath(real, view);
    return host === null ? null : encodeName(host);
  };
}

/** Whether what a path leads to now is something else, since a link stands in the way. */
function leadsAstray(events: readonly Event[], locate: Locate): (path: string) => boolean {
  return makeAstrayTest(events, (path) => {
    const host = locate(path);
    return host !== null && isLink(host);
  });
}

/** How what the run has touched is at its end, and what it has moved along with directories. */
export function examineFiles(
  events: readonly Event[],
  names: ShownNames,
  view: InsideView,
  variables: Variables,
): Aftermath {
  const locate = makeLocate(names, view);
  const states = readFinalStates(events, locate);
  const contents = readMovedContents(events, names, locate);
  const unseen = [...states.unseen, ...contents.unseen].filter(
    (path) => !isTemporary(path, { ...view, variables }),
  );
  return {
    finalStates: states.found,
    movedContents: contents.found,
    unseen: unseen.length,
  };
}

interface Findings<T> {
  readonly found: Map<string, T>;
  readonly unseen: string[];
}

function readFinalStates(events: readonly Event[], locate: Locate): Findings<FinalState> {
  const found = new Map<string, FinalState>();
  const unseen: string[] = [];
  const isAstray = leadsAstray(events, locate);
  for (const [path, before] of listTouched(events)) {
    const host = locate(path);
    if (host === null && isRedacted(path)) unseen.push(path);
    if (host === null) continue;
    const now = isAstray(path) ? null : readState(host);
    if (now === 'unknown') unseen.push(path);
    else found.set(path, compareStates(before, now));
  }
  return { found, unseen };
}

function readMovedContents(
  events: readonly Event[],
  shown: ShownNames,
  locate: Locate,
): Findings<string[]> {
  const contents = new Map<string, string[]>();
  const unseen: string[] = [];
  const isAstray = leadsAstray(events, locate);
  let left = MAX_MOVED;
  for (const target of listMovedDirectories(events)) {
    const host = locate(target);
    const isThere = host !== null && !isAstray(target);
    const { names, unread } = isThere ? listTree(host, left) : { names: [], unread: 0 };
    left -= names.length;
    for (let count = 0; count < unread; count++) unseen.push(target);
    contents.set(
      target,
      names.map((name) => showBelow(shown, target, decodeName(name.toString('latin1')))),
    );
  }
  return { found: contents, unseen };
}
