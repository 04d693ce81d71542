import type { FileEvent } from '../observe/event.ts';
import { contentOf, Overlay, type OverlayNode } from './overlay.ts';
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

/** Renames that undo each other, over and over, need a few rounds to be brought in line with the final states. */
const MAX_ROUNDS = 8;

export function findChanges(input: ChangesInput): Changes {
  const events = input.events.filter(
    (event): event is FileEvent =>
      event.kind === 'file' && event.op !== 'read' && event.outcome === 'ok',
  );
  const overlay = new Overlay();
  for (const event of events) apply(overlay, event);
  repeatRenames(overlay, events, input);
  const judge = new Judge(input, overlay);
  const known = new Set<string>();
  for (const { path } of overlay.nodes()) known.add(path);
  for (const path of overlay.before.keys()) known.add(path);
  for (const path of [...known].sort()) judge.judge(path);
  return judge.changes;
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

function apply(overlay: Overlay, event: FileEvent): void {
  const { op, path, target = '', isDirectory = false, isReplacing = false } = event;
  switch (op) {
    case 'create':
    case 'mknod':
    case 'symlink':
    case 'mkdir':
      overlay.create(path, { isDirectory: op === 'mkdir' });
      return;
    case 'unlink':
    case 'rmdir':
      overlay.remove(path, op === 'rmdir');
      return;
    case 'rename':
      overlay.rename(path, target, { isDirectory, isReplacing });
      return;
    case 'link':
      overlay.link(path, target);
      return;
    case 'write':
    case 'truncate': {
      const content = contentOf(overlay.touch(path));
      content.written ??= [];
      if (!content.written.includes(path)) content.written.push(path);
      return;
    }
    default: {
      const node = overlay.touch(path);
      contentOf(node).hasNewAttributes = true;
      if (isDirectory) node.isDirectory = true;
    }
  }
}

/** A rename is reported once, however often it happened: the last time shows in the final states only. */
function repeatRenames(
  overlay: Overlay,
  events: readonly FileEvent[],
  { finalStates }: ChangesInput,
): void {
  const renames = events.filter(({ op }) => op === 'rename');
  for (let round = 0, isMoved = true; isMoved && round < MAX_ROUNDS; round++) {
    isMoved = false;
    for (const { path, target = '' } of renames) {
      const isWanted =
        finalStates.get(path) === 'absent' &&
        (finalStates.get(target) ?? 'absent') !== 'absent' &&
        !overlay.isThere(target);
      if (isWanted && overlay.repeatRename(path, target)) isMoved = true;
    }
  }
}

interface Lists {
  created: string[];
  modified: string[];
  removed: string[];
  attributes: string[];
}

/** Holds what the events say against how things were found in the end. */
class Judge {
  readonly #input: ChangesInput;
  readonly #overlay: Overlay;
  /** What was found below directories that were moved, by full path. */
  readonly #found = new Set<string>();
  readonly #lists: Lists = { created: [], modified: [], removed: [], attributes: [] };
  readonly #temporary: Lists = { created: [], modified: [], removed: [], attributes: [] };
  readonly #unverified: string[] = [];
  /** Paths whose state was taken when they were first opened for writing. */
  readonly #compared = new Set<string>();

  constructor(input: ChangesInput, overlay: Overlay) {
    this.#input = input;
    this.#overlay = overlay;
    for (const event of input.events)
      if (event.kind === 'file' && event.before) this.#compared.add(event.path);
    for (const [directory, names] of input.movedContents) {
      if (input.finalStates.get(directory) === 'absent') continue;
      for (const name of names) this.#find(directory, name);
    }
  }

  get changes(): Changes {
    return { ...this.#lists, temporary: this.#temporary, unverified: this.#unverified };
  }

  judge(path: string): void {
    const { variables, privateTmp } = this.#input;
    const isKept = isTemporary(path, { variables, privateTmp });
    if (!isKept && isAtOrBelowAny(path, NO_FILES)) return;
    const node = this.#overlay.find(path);
    const wasThere = this.#overlay.before.get(path) === true;
    const isThere = this.#isThere(path);
    const lists = isKept ? this.#temporary : this.#lists;
    const isDirectory = this.#overlay.isDirectory(path);
    if (isThere && !wasThere) lists.created.push(mark(path, isDirectory));
    else if (wasThere && !isThere) lists.removed.push(mark(path, this.#overlay.wasDirectory(path)));
    else if (isThere && this.#isModified(path, node)) lists.modified.push(mark(path, isDirectory));
    else if (isThere && node?.content?.hasNewAttributes)
      lists.attributes.push(mark(path, isDirectory));
  }

  #find(directory: string, name: string): void {
    const bare = name.endsWith('/') ? name.slice(0, -1) : name;
    const path = `${directory}/${bare}`;
    this.#found.add(path);
    const node = this.#overlay.touch(path);
    // Whoever lists the contents may mark directories; all but empty ones show by what is in them.
    if (bare !== name) this.#overlay.markDirectory(node);
    const cut = bare.lastIndexOf('/');
    if (cut > 0)
      this.#overlay.markDirectory(this.#overlay.touch(`${directory}/${bare.slice(0, cut)}`));
  }

  #isThere(path: string): boolean {
    const { finalStates, movedContents } = this.#input;
    const state = finalStates.get(path);
    if (state !== undefined) return state !== 'absent';
    if (movedContents.size > 0)
      for (let at = parentOf(path); at !== ''; at = parentOf(at))
        if (movedContents.has(at) && finalStates.get(at) !== 'absent') return this.#found.has(path);
    return this.#overlay.isThere(path);
  }

  /** Of what was there before and is there again, or still. */
  #isModified(path: string, node: OverlayNode | undefined): boolean {
    const state = this.#input.finalStates.get(path);
    if (this.#overlay.isDirectory(path) && this.#overlay.wasDirectory(path)) return false;
    if (!node?.isThere) return state !== 'same';
    const { origin, written } = node.content ?? { origin: node.origin, written: null };
    if (origin !== path) return true;
    if (!written) return false;
    const states = written.map((name) => this.#input.finalStates.get(name));
    if (states.includes('changed')) return true;
    const isUnknown = written.some(
      (name, index) => states[index] !== 'same' || !this.#compared.has(name),
    );
    if (isUnknown) this.#unverified.push(path);
    return isUnknown;
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function mark(path: string, isDirectory = false): string {
  return isDirectory && path !== '/' ? `${path}/` : path;
}
