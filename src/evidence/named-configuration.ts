import { isLiteral, matchPattern, unescapeLiteral } from '../policy/glob.ts';
import { foldPlaces } from './fold-places.ts';
import type { NeedsInput } from './needs.ts';
import { makeProtectedPaths, type ProtectedPaths } from './protected-path.ts';

/** What the git guard keeps from changes in any git directory, unless a grant names it. */
const GUARDED_BY_GIT = /^.*?\/(?:config(?:\.worktree)?$|hooks(?=\/|$))/s;

/** So many files of a protected directory stand for all of it. */
const FOLD = 4;

/** What was written though it is protected, and has to be named for that. */
export class NamedConfiguration {
  readonly #input: Pick<NeedsInput, 'pathOf' | 'rules'>;
  readonly #known: ProtectedPaths = makeProtectedPaths();
  readonly #paths = new Set<string>();

  constructor(input: Pick<NeedsInput, 'pathOf' | 'rules'>) {
    this.#input = input;
  }

  /** Takes a path that was written. */
  note(path: string): void {
    let named = path;
    // Of a name that was made up, the directory, as long as that is still protected.
    while (this.#input.pathOf(named).includes('<*>'))
      named = named.slice(0, named.lastIndexOf('/'));
    if (this.#isProtected(named) || this.#isNamedForGit(named)) this.#paths.add(named);
  }

  /** The fewest names; none stands for a directory that `isHeld` tells of. */
  list(isHeld: (directory: string) => boolean): Set<string> {
    const folded = foldPlaces(this.#paths, {
      count: FOLD,
      isDeep: false,
      isBroad: (path) => !this.#isProtected(path) || isHeld(path),
    });
    const named = new Set(folded);
    // Where a name lifts protection, it comes back for protected names further down.
    for (const path of this.#paths)
      for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        if (named.has(at) && this.#isProtected(path.slice(at.length))) named.add(path);
    return named;
  }

  #isProtected(path: string): boolean {
    return this.#known.find(path) !== undefined;
  }

  /** What the run could write only since its policy named it. What a run makes itself needs no name. */
  #isNamedForGit(path: string): boolean {
    const [guarded] = GUARDED_BY_GIT.exec(path) ?? [];
    if (guarded === undefined) return false;
    return this.#input.rules.some(
      ({ effect, rights, pattern }) =>
        effect === 'allow' &&
        rights.includes('write') &&
        isLiteral(pattern) &&
        unescapeLiteral(pattern).length >= guarded.length &&
        matchPattern(pattern, path),
    );
  }
}
