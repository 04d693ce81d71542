import type { Change } from './path-verdict.ts';

/** Paths between which things were moved or linked, whichever way: what is at one of them may have been at any other. */
export class MoveGroups {
  /** Of ends of moves: another one of its group, or itself. */
  readonly #next = new Map<string, string>();

  constructor(changes: readonly Change[]) {
    const moves = changes.filter(({ op }) => op === 'rename' || op === 'link');
    for (const { path, target = '' } of moves) this.#next.set(path, path).set(target, target);
    for (const { path, target = '' } of moves) this.#join(path, target);
    for (const end of this.#next.keys()) for (const group of this.of(end)) this.#join(end, group);
  }

  /** The groups of a path: its own, and those of directories that it is in. */
  of(path: string): Set<string> {
    const groups = new Set<string>();
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      if (this.#next.has(at)) groups.add(this.#first(at));
    return groups;
  }

  #join(one: string, other: string): void {
    this.#next.set(this.#first(one), this.#first(other));
  }

  #first(path: string): string {
    let at = path;
    for (let next = this.#next.get(at); next !== undefined && next !== at;) {
      // Shorter for whoever comes next.
      this.#next.set(at, this.#next.get(next) ?? next);
      at = next;
      next = this.#next.get(at);
    }
    return at;
  }
}
