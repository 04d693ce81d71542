import { isSpread } from './masks.ts';
import type { StrictMasks } from './masks.ts';
import { splitPath } from './split-path.ts';

const DATE_DIRECTORIES = /\/(20\d\d)\/(0?[1-9]|1[0-2])\/(0?[1-9]|[12]\d|3[01])(?=\/|$)/;

/**
 * Directories that are the year, the month and the day of the run (`sessions/2026/11/15`) and have something in them
 * that was born in the run. The year may have been there before: what counts is what it is the name of.
 */
export function findDateDirectories(
  born: Iterable<string>,
  masks: StrictMasks,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of born) {
    const match = DATE_DIRECTORIES.exec(path);
    if (match === null) continue;
    const [whole, year = '', month = '', day = ''] = match;
    if (!masks.isRunDate(Number(year), Number(month), Number(day))) continue;
    const end = match.index + whole.length;
    found.add(path.slice(0, end));
    found.add(path.slice(0, end - day.length - 1));
    found.add(path.slice(0, end - day.length - month.length - 2));
  }
  return found;
}

const OBJECT =
  /\/objects(?:\/tmp_objdir-[^/]+)?(?=\/[0-9a-f]{2}(?:\/(?:[0-9a-f]{38}|[0-9a-f]{62}|tmp_obj_\w{6}))?$)/;

/**
 * The `objects` directories of repositories that got objects, or were asked for objects that lie elsewhere: those are
 * in directories named for their digest.
 */
export function findObjectStores(paths: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) {
    const match = OBJECT.exec(path);
    if (match !== null) found.add(path.slice(0, match.index + match[0].length));
  }
  return found;
}

const CCACHE =
  /^(.*ccache)\/[0-9a-f](?:\/[0-9a-v]){0,3}\/(?:stats|CACHEDIR\.TAG|[0-9a-v]{29,32}[RM])(?:\.|$)/s;

/** Caches of ccache that got something, if only a count, which lies in a directory drawn by the process number. */
export function findCcaches(born: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of born) {
    const root = CCACHE.exec(path)?.[1];
    if (root !== undefined) found.add(root);
  }
  return found;
}

/** Caches that got something, and lay it in directories named for the first two digits of its own name. */
export function findSpreadStores(born: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of born) {
    const { directory, name } = splitPath(path);
    if (isSpread(name, directory)) found.add(splitPath(directory).directory);
  }
  return found;
}
