import { makeMoveTest } from './move-test.ts';
import { MovedPaths } from './moved-paths.ts';
import { leaveNamelessOut } from './nameless-files.ts';
import { type Change, type ChangeKind, isChange, type PathVerdict } from './path-verdict.ts';
import { PlainPaths } from './plain-paths.ts';
import type { RunRecord } from './run-record.ts';

/** Paths as seen inside, sorted; a directory ends in a slash. */
export interface ChangeSet {
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly removed: readonly string[];
  /** Permissions, owner, times or extended attributes, and nothing else. */
  readonly attributes: readonly string[];
}

/** What a scan of the tree before and after the run would show. */
export interface Changes extends ChangeSet {
  /** The same of the private tmp, which goes with the run. */
  readonly temporary: ChangeSet;
  /** Changed as far as the events tell; how they ended could not be looked at. */
  readonly unverified: readonly string[];
}

export type ChangesInput = Pick<
  RunRecord,
  'events' | 'finalStates' | 'movedContents' | 'privateTmp' | 'variables'
>;

/** Devices and kernel state are not files that keep what is written to them. */
const NO_FILES = ['/dev', '/proc', '/sys'];

export function findChanges(input: ChangesInput): Changes {
  const isMoved = makeMoveTest(input.events);
  const plain = new PlainPaths();
  const moved: Change[] = [];
  for (const change of leaveNamelessOut(input.events.filter(isChange), input.finalStates)) {
    if (isMoved(change)) moved.push(change);
    else plain.add(change);
  }
  const lists = new ChangeLists(input);
  const hasSetTimes = input.events.some((event) => isChange(event) && event.op === 'utimes');
  for (const verdict of plain.verdicts(input.finalStates, hasSetTimes)) lists.add(verdict);
  if (moved.length > 0)
    for (const verdict of new MovedPaths({ ...input, changes: moved, hasSetTimes }).verdicts())
      lists.add(verdict);
  return lists.changes;
}

type Lists = Record<ChangeKind, string[]>;

class ChangeLists {
  readonly #input: ChangesInput;
  readonly #lists: Lists = { created: [], modified: [], removed: [], attributes: [] };
  readonly #temporary: Lists = { created: [], modified: [], removed: [], attributes: [] };
  readonly #unverified: string[] = [];

  constructor(input: ChangesInput) {
    this.#input = input;
  }

  add({ path, kind, isDirectory, isUnverified }: PathVerdict): void {
    const isPassing = isTemporary(path, this.#input);
    if (!isPassing && isAtOrBelowAny(path, NO_FILES)) return;
    const shown = isDirectory && path !== '/' ? `${path}/` : path;
    (isPassing ? this.#temporary : this.#lists)[kind].push(shown);
    if (isUnverified && !isPassing) this.#unverified.push(path);
  }

  get changes(): Changes {
    for (const lists of [this.#lists, this.#temporary])
      for (const list of Object.values(lists)) list.sort();
    return {
      ...this.#lists,
      temporary: this.#temporary,
      unverified: this.#unverified.sort(),
    };
  }
}

export function isAtOrBelowAny(path: string, directories: readonly string[]): boolean {
  return directories.some((dir) => path === dir || path.startsWith(`${dir}/`));
}

/** Whether a path is in the private tmp; a workspace inside it is not. */
export function isTemporary(
  path: string,
  { privateTmp, variables }: Pick<RunRecord, 'privateTmp' | 'variables'>,
): boolean {
  if (isAtOrBelowAny(path, ['/dev/shm'])) return true;
  return isAtOrBelowAny(path, privateTmp) && !isAtOrBelowAny(path, [variables.cwd]);
}
