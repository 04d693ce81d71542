import type { StrictMasks } from './masks.ts';

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

/** The `objects` directories of repositories that got objects: those lie in directories named for their digest. */
export function findObjectStores(born: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of born) {
    const match =
      /\/objects(?:\/tmp_objdir-[^/]+)?(?=\/[0-9a-f]{2}(?:\/(?:[0-9a-f]{38}|[0-9a-f]{62}|tmp_obj_\w{6}))?$)/.exec(
        path,
      );
    if (match !== null) found.add(path.slice(0, match.index + match[0].length));
  }
  return found;
}
