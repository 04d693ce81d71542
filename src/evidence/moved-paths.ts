import { applyChange } from './apply-change.ts';
import { MoveGroups } from './move-groups.ts';
import { Overlay, type OverlayNode } from './overlay.ts';
import type { Change, ChangeKind, FinalStates, PathVerdict } from './path-verdict.ts';

export interface MovedPathsInput {
  /** In the order in which they were first seen. */
  readonly changes: readonly Change[];
  readonly finalStates: FinalStates;
  readonly movedContents: ReadonlyMap<string, readonly string[]>;
  /** Of anything: what was there before may have other names. */
  readonly hasSetTimes: boolean;
}

/** Paths of a run in which things were moved: what stands at a place in the end may have come from another one. */
export class MovedPaths {
  readonly #input: MovedPathsInput;
  readonly #overlay = new Overlay();
  /** What was found below directories that were moved, by full path. */
  readonly #found = new Set<string>();
  readonly #traces: Traces;

  constructor(input: MovedPathsInput) {
    this.#input = input;
    for (const change of input.changes) applyChange(this.#overlay, change);
    this.#traces = new Traces(input.changes);
    for (const [directory, names] of input.movedContents) {
      if (input.finalStates.get(directory) === 'absent') continue;
      for (const name of names) this.#find(directory, name);
    }
  }

  *verdicts(): Generator<PathVerdict> {
    const known = new Set<string>(this.#overlay.before.keys());
    for (const { path } of this.#overlay.nodes()) known.add(path);
    // Of what was done twice in one place, the second time is not told.
    for (const { op, path, target } of this.#input.changes) {
      known.add(path);
      if ((op === 'rename' || op === 'link') && target !== undefined) known.add(target);
    }
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
      isDirectory: kind === 'removed' ? this.#overlay.wasDirectory(path) : this.#isDirectory(path),
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

  #isDirectory(path: string): boolean {
    const state = this.#input.finalStates.get(path);
    return state === undefined ? this.#overlay.isDirectory(path) : state === 'directory';
  }

  /** Of what was there before and is there again, or still. */
  #isModified(path: string, node: OverlayNode | undefined): 'yes' | 'no' | 'unknown' {
    const wasDirectory = this.#overlay.wasDirectory(path);
    if (wasDirectory || this.#isDirectory(path))
      return wasDirectory && this.#isDirectory(path) ? 'no' : 'yes';
    const state = this.#input.finalStates.get(path);
    if (state === 'other') return 'yes';
    if (state === 'same') return 'no';
    if (state === 'changed')
      return this.#traces.isTimed(path) && !this.#traces.isWritten(path) ? 'no' : 'yes';
    if (state === 'touched' && !this.#input.hasSetTimes) return 'no';
    if (state === 'touched' || state === 'alike')
      return this.#traces.isWritten(path) ? 'unknown' : 'no';
    // Nothing is known but what the events tell.
    const { origin, isWritten } = node?.content ?? { origin: node?.origin, isWritten: false };
    if (!node?.isThere || origin !== path) return 'yes';
    return isWritten ? 'unknown' : 'no';
  }
}

/** What was done to a file by any name that it may have had. */
class Traces {
  readonly #changes: readonly Change[];
  readonly #paths = new Map<string, ReadonlySet<string>>();
  #groups: MoveGroups | undefined;

  constructor(changes: readonly Change[]) {
    this.#changes = changes;
  }

  isTimed(path: string): boolean {
    return this.#has(path, 'utimes');
  }

  isWritten(path: string): boolean {
    return this.#has(path, 'write') || this.#has(path, 'truncate');
  }

  #has(path: string, op: string): boolean {
    const known = this.#find(op);
    return this.#namesOf(path).some((name) => known.has(name));
  }

  #find(op: string): ReadonlySet<string> {
    const known = this.#paths.get(op);
    if (known) return known;
    const changes = this.#changes.filter((change) => change.op === op);
    const found = new Set(changes.flatMap(({ path }) => this.#namesOf(path)));
    this.#paths.set(op, found);
    return found;
  }

  /** The path itself, and the groups of paths between which it was moved. */
  #namesOf(path: string): string[] {
    this.#groups ??= new MoveGroups(this.#changes);
    return [path, ...this.#groups.of(path)];
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
