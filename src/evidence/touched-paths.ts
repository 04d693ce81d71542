import type { Event, FileState } from '../observe/event.ts';
import { applyChange } from './apply-change.ts';
import { makeMoveTest } from './move-test.ts';
import { Overlay } from './overlay.ts';
import { type Change, isChange } from './path-verdict.ts';

/**
 * Everything that a run may have changed, and how it was before the run where that is known. The first change of something
 * tells, and is always told: what comes after it may be one of many like it.
 */
export function listTouched(events: readonly Event[]): Map<string, FileState | undefined> {
  const touched = new Map<string, FileState | undefined>();
  const note = (path: string, state: FileState | undefined): void => {
    if (!touched.has(path)) touched.set(path, state);
  };
  // What is below a directory that was moved had another name before.
  const overlay = listMovedDirectories(events).size > 0 ? new Overlay() : undefined;
  const isMoved = overlay && makeMoveTest(events);
  const named = new Set<string>();
  for (const event of events) {
    if (!isChange(event)) continue;
    const tree = isMoved?.(event) === true ? overlay : undefined;
    for (const [path, state] of listEnds(event)) {
      const origin = tree ? tree.originOf(path) : path;
      if (origin !== null) note(origin, state);
      if (origin !== path) named.add(path);
    }
    if (tree) applyChange(tree, event);
  }
  for (const path of named) note(path, undefined);
  return touched;
}

/** The paths that a change speaks of, and how it found them. */
function listEnds(change: Change): (readonly [string, FileState | undefined])[] {
  const { op, path, target, before, targetBefore } = change;
  const ends: (readonly [string, FileState | undefined])[] = [[path, before]];
  if ((op === 'rename' || op === 'link') && target !== undefined) ends.push([target, targetBefore]);
  return ends;
}

/** Where directories were moved to, each once. */
export function listMovedDirectories(events: readonly Event[]): Set<string> {
  const targets = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'file' || event.op !== 'rename' || event.outcome !== 'ok') continue;
    if (event.target !== undefined && event.isDirectory === true) targets.add(event.target);
  }
  return targets;
}

/**
 * Tells whether a path leads through a link that the run has put in the place of a directory: what is found by it then is
 * something else. `isLink` looks at what is there now.
 */
export function makeAstrayTest(
  events: readonly Event[],
  isLink: (path: string) => boolean,
): (path: string) => boolean {
  const places = listLinkPlaces(events);
  if (places.size === 0) return () => false;
  const known = new Map<string, boolean>([['', false]]);
  const leadsAstray = (directory: string): boolean => {
    let is = known.get(directory);
    if (is === undefined) {
      is = leadsAstray(parentOf(directory)) || (places.has(directory) && isLink(directory));
      known.set(directory, is);
    }
    return is;
  };
  return (path) => leadsAstray(parentOf(path));
}

/** Where the run may have put a link. */
function listLinkPlaces(events: readonly Event[]): Set<string> {
  const places = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'file' || event.outcome !== 'ok') continue;
    if (event.op === 'symlink') places.add(event.path);
    else if ((event.op === 'rename' || event.op === 'link') && event.target !== undefined)
      places.add(event.target);
  }
  return places;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
