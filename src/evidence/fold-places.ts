export interface FoldOptions {
  /** So many entries of a directory stand for all of it. */
  readonly count: number;
  /** Whether a directory on the way to something counts as an entry, as what is wanted itself does. */
  readonly isDeep: boolean;
  /** Directories that nothing is folded into. */
  readonly isBroad: (path: string) => boolean;
}

/**
 * Few places for many: a directory of which at least `count` entries are wanted is taken as a whole, and what lies below
 * a place that is wanted is left out.
 */
export function foldPlaces(
  paths: Iterable<string>,
  { count, isDeep, isBroad }: FoldOptions,
): string[] {
  const wanted = new Set(paths);
  const children = new Map<string, Set<string>>();
  for (const path of wanted) {
    let at = path;
    for (let parent = parentOf(at); parent !== ''; parent = parentOf(at)) {
      const names = children.get(parent) ?? new Set();
      children.set(parent, names);
      if (names.has(at)) break;
      names.add(at);
      if (!isDeep) break;
      at = parent;
    }
  }
  for (const [directory, names] of children)
    if (names.size >= count && !isBroad(directory)) wanted.add(directory);
  const kept: string[] = [];
  for (const path of wanted) if (!isCovered(path, wanted)) kept.push(path);
  return kept.sort();
}

/** Each is a mount inside, and a list that nobody reads is no policy. */
const MAX_PLACES = 64;

/** The same, and if that leaves too many, ever larger directories. */
export function foldToFew(paths: Iterable<string>, options: FoldOptions): string[] {
  let folded = foldPlaces(paths, options);
  for (const count of [16, 8, 4, 2]) {
    if (folded.length <= MAX_PLACES) break;
    folded = foldPlaces(folded, { ...options, count, isDeep: true });
  }
  return folded;
}

function isCovered(path: string, wanted: ReadonlySet<string>): boolean {
  for (let at = parentOf(path); at !== ''; at = parentOf(at)) if (wanted.has(at)) return true;
  return path !== '/' && wanted.has('/');
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
