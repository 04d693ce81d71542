import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import { isYear } from './loose.ts';
import { MASK } from './masks.ts';
import type { NoteMask } from './masks.ts';
import { splitPath } from './split-path.ts';

/**
 * Programs keep users apart in a shared tmp by their name or number: `claude-1000`, `pytest-of-me`. Only names in such
 * places are looked at, since elsewhere 1000 is a number and a user may be called `test`. The number of a user becomes
 * what any other number there becomes: root is number 0, and so is the first of many things.
 */
export function makeIdentityMask(
  { uid, variables: { user } }: RunRecord,
  births: Births,
): (name: string, path: string, note: NoteMask) => string {
  const digits = String(uid);
  // Others are masked as numbers, or stay as a part of a version, whoever runs the program.
  const isOdd = isYear(digits) || digits.length > 5;
  // An underscore does not end a token: random names have some.
  const number = new RegExp(`(?<![0-9A-Za-z_]|\\d\\.)${digits}(?![0-9A-Za-z_]|\\.\\d)`);
  const hasUser = /^[\w.-]+$/.test(user);
  // Behind an underscore only where a word may be before it, for the same reason.
  const suffix = new RegExp(`(?<=^|[-.]|[A-Za-z]{4}_)${user.replaceAll('.', '\\.')}$`);

  /** One of many that are counted: `part-2000`, `part-2001`. */
  function isCounted(name: string, directory: string): boolean {
    return [uid + 1, uid - 1].some((next) =>
      births.isBorn(`${directory}/${name.replace(number, String(next))}`),
    );
  }

  return (name, path, note) => {
    const { directory } = splitPath(path);
    let result = name;
    if (isOdd && number.test(name) && !isCounted(name, directory)) {
      note('identity', digits);
      result = result.replace(number, MASK);
    }
    if (hasUser) result = result.replace(suffix, () => '${USER}');
    return result;
  };
}
