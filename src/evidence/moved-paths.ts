import { contentOf, Overlay, type OverlayNode } from './overlay.ts';
import type { Change, ChangeKind, FinalStates, PathVerdict } from './path-verdict.ts';

/** Renames that undo each other, over and over, need a few rounds to be brought in line with the final states. */
const MAX_ROUNDS = 8;

export interface MovedPathsInput {
  /** In the order in which they were first seen. */
  readonly changes: readonly Change[];
  readonly finalStates: FinalStates;
  readonly movedContents: ReadonlyMap<string, readonly string[]>;
}

/** Paths of a run in which things were moved: what stands at a place in the end may have come from another one. */
export class MovedPaths {
  readonly #input: MovedPathsInput;
  readonly #overlay = new Overlay();
  /** What was found below directories that were moved, by full path. */
  readonly #found = new Set<string>();
  /** Paths whose state was taken when they were first opened for writing. */
  readonly #compared = new Set<string>();

  constructor(input: MovedPathsInput) {
    this.#input = input;
    for (const change of input.changes) {
      apply(this.#overlay, change);
      if (change.before) this.#compared.add(change.path);
    }
    repeatRenames(this.#overlay, input);
    for (const [directory, names] of input.movedContents) {
      if (input.finalStates.get(directory) === 'absent') continue;
      for (const name of names) this.#find(directory, name);
    }
  }

  *verdicts(): Generator<PathVerdict> {
    const known = new Set<string>(this.#overlay.before.keys());
    for (const { path } of this.#overlay.nodes()) known.add(path);
    for (const path of known) {
      const verdict = this.#judge(path);
      if (verdict) yield verdict;
    }
  }

  #judge(path: string): PathVerdict | undefined {
    const node = this.#overlay.find(path);
    const wasThere = this.#overlay.before.get(path) === true;
    const isThere = this.#isThere(path);
    const make = (kind: ChangeKind, isUnverified = false): PathVerdict => ({
      path,
      kind,
      isUnverified,
      isDirectory:
        kind === 'removed' ? this.#overlay.wasDirectory(path) : this.#overlay.isDirectory(path),
    });
    if (wasThere !== isThere) return make(isThere ? 'created' : 'removed');
    if (!isThere) return undefined;
    const modified = this.#isModified(path, node);
    if (modified !== 'no') return make('modified', modified === 'unknown');
    return node?.content?.hasNewAttributes ? make('attributes') : undefined;
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
  #isModified(path: string, node: OverlayNode | undefined): 'yes' | 'no' | 'unknown' {
    const { finalStates } = this.#input;
    if (this.#overlay.isDirectory(path) && this.#overlay.wasDirectory(path)) return 'no';
    if (!node?.isThere) return finalStates.get(path) === 'same' ? 'no' : 'yes';
    const { origin, written } = node.content ?? { origin: node.origin, written: null };
    if (origin !== path) return 'yes';
    if (!written) return 'no';
    if (written.some((name) => finalStates.get(name) === 'changed')) return 'yes';
    const isSame = (name: string): boolean =>
      finalStates.get(name) === 'same' && this.#compared.has(name);
    return written.every(isSame) ? 'no' : 'unknown';
  }
}

function apply(overlay: Overlay, event: Change): void {
  const { op, path, target = '', isDirectory = false, isReplacing = false, move } = event;
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
      if (move === 'exchange') overlay.exchange(path, target, { isDirectory });
      else if (move === 'back') overlay.noteReturn(path, target, { isDirectory });
      else if (move === 'none') for (const name of [path, target]) overlay.touch(name);
      else overlay.rename(path, target, { isDirectory, isReplacing });
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

/** A file's rename is reported once, however often it happened: the last time shows in the final states only. */
function repeatRenames(overlay: Overlay, { changes, finalStates }: MovedPathsInput): void {
  const renames = changes.filter(
    ({ op, isDirectory, move }) => op === 'rename' && !isDirectory && !move,
  );
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

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
