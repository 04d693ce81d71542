import type { Event, FileEvent, NetworkEvent } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import { splitPath } from './split-path.ts';

/** Which names came into being in the run, and which of them are gone again. Never depends on the order of events. */
export interface Births {
  /** Made in the run, or tried to be made. */
  readonly isBorn: (path: string) => boolean;
  readonly listBorn: () => Iterable<string>;
  /** Made in the run: of these a failed probe says nothing new. */
  readonly made: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
  /** Made by listening there. */
  readonly sockets: ReadonlySet<string>;
  /** Where a name was renamed to; the smallest, when there are several. */
  readonly renamedTo: ReadonlyMap<string, string>;
}

const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
const REMOVING: ReadonlySet<string> = new Set(['unlink', 'rmdir']);

/** Something is there already. */
const IN_THE_WAY: ReadonlySet<string> = new Set(['EEXIST', 'EADDRINUSE', 'EISDIR', 'ENOTEMPTY']);

interface Draft {
  readonly made: Set<string>;
  readonly tried: Set<string>;
  readonly removed: Set<string>;
  readonly directories: Set<string>;
  readonly sockets: Set<string>;
  readonly renamedTo: Map<string, string>;
  /** By new path: the old ones of what was moved there. */
  readonly movedFrom: Map<string, Set<string>>;
}

export function findBirths(record: RunRecord): Births {
  const draft: Draft = {
    made: new Set(),
    tried: new Set(),
    removed: new Set(),
    directories: new Set(),
    sockets: new Set(),
    renamedTo: new Map(),
    movedFrom: new Map(),
  };
  for (const event of record.events) noteEvent(draft, event);
  noteMoved(draft, record);
  const { made, tried, removed, directories, sockets, renamedTo } = draft;

  if (tried.size > 0) for (const path of listSeen(record.events)) tried.delete(path);
  const gone = new Set<string>();
  for (const path of made) {
    const state = record.finalStates.get(path);
    if (state === undefined ? removed.has(path) : state === 'absent') gone.add(path);
  }
  for (const path of tried) {
    const state = record.finalStates.get(path);
    // Made after all, or there all the time.
    if (made.has(path) || (state ?? 'absent') !== 'absent') tried.delete(path);
    else gone.add(path);
  }
  return {
    isBorn: (path) => made.has(path) || tried.has(path),
    *listBorn() {
      yield* made;
      yield* tried;
    },
    made,
    gone,
    directories,
    sockets,
    renamedTo,
  };
}

/** What something was done to, with the directories that it is in. That was there, whatever was tried before. */
function listSeen(events: readonly Event[]): ReadonlySet<string> {
  const seen = new Set<string>(['']);
  for (const event of events) {
    if (event.kind !== 'file' || event.outcome !== 'ok') continue;
    const { op, path, target } = event;
    const ends =
      (op === 'rename' || op === 'link') && target !== undefined ? [path, target] : [path];
    for (let at of ends) for (; !seen.has(at); at = splitPath(at).directory) seen.add(at);
  }
  return seen;
}

function noteEvent(draft: Draft, event: Event): void {
  if (event.kind === 'file') noteFile(draft, event);
  else if (event.kind === 'network') noteBind(draft, event);
}

function noteFile(draft: Draft, event: FileEvent): void {
  const { op, path, target, outcome } = event;
  const isDone = outcome === 'ok';
  if (op === 'mkdir' || event.isDirectory === true) draft.directories.add(path);
  // Where the directory is missing too, nobody knows whether it was to be made.
  const isMaking = MAKING.has(op) || (op === 'write' && outcome === 'ENOENT');
  if (isMaking) noteMaking(draft, path, outcome);
  else if (REMOVING.has(op) && isDone) draft.removed.add(path);
  else if ((op === 'rename' || op === 'link') && target !== undefined) {
    if (event.isReplacing !== true) noteMaking(draft, target, outcome);
    const known = draft.renamedTo.get(path);
    if (known === undefined || target < known) draft.renamedTo.set(path, target);
    if (op === 'rename' && isDone) {
      draft.removed.add(path);
      const sources = draft.movedFrom.get(target);
      if (sources === undefined) draft.movedFrom.set(target, new Set([path]));
      else sources.add(path);
    }
  }
}

function noteBind(draft: Draft, { op, family, host, outcome }: NetworkEvent): void {
  if (op !== 'bind' || family !== 'unix') return;
  noteMaking(draft, host, outcome);
  if (outcome === 'ok') draft.sockets.add(host);
}

function noteMaking(draft: Draft, path: string, outcome: string): void {
  if (outcome === 'ok') draft.made.add(path);
  else if (!IN_THE_WAY.has(outcome)) draft.tried.add(path);
}

/** What was made in a directory that was moved later is a birth at its new place too. */
function noteMoved(draft: Draft, record: RunRecord): void {
  let size: number;
  do {
    size = draft.made.size;
    for (const [directory, contents] of record.movedContents)
      noteMovedContents(draft, directory, contents);
    // Again while there is something new: a directory may have been moved along inside another one.
  } while (draft.made.size > size);
}

function noteMovedContents(draft: Draft, directory: string, contents: readonly string[]): void {
  const sources = listSources(draft, directory);
  for (const relative of contents)
    for (const source of sources)
      if (draft.made.has(`${source}/${relative}`)) draft.made.add(`${directory}/${relative}`);
}

function listSources(draft: Draft, directory: string): ReadonlySet<string> {
  const found = new Set<string>(draft.movedFrom.get(directory));
  for (const source of found)
    for (const earlier of draft.movedFrom.get(source) ?? [])
      if (earlier !== directory) found.add(earlier);
  return found;
}
