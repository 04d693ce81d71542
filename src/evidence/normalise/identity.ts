import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import { splitPath } from './split-path.ts';

/**
 * Programs keep users apart in a shared tmp by their name or number: `claude-1000`, `pytest-of-me`. Only names in such
 * places are looked at, since elsewhere 1000 is a number and a user may be called `test`. An underscore does not end a
 * token: random names have some. A part of a version is no user, though root is number 0.
 */
export function makeIdentityMask(
  { uid, variables: { user } }: RunRecord,
  births: Births,
): (name: string, path: string) => string {
  const number = new RegExp(`(?<![0-9A-Za-z_]|\\d\\.)${uid}(?![0-9A-Za-z_]|\\.\\d)`);
  const hasUser = /^[\w.-]+$/.test(user);
  const suffix = new RegExp(`(?<=^|[-.])${user.replaceAll('.', '\\.')}$`);

  /** One of many that are counted: `part-0`, `part-1`. */
  function isCounted(name: string, directory: string): boolean {
    return [uid + 1, uid - 1].some((next) =>
      births.isBorn(`${directory}/${name.replace(number, String(next))}`),
    );
  }

  return (name, path) => {
    const { directory } = splitPath(path);
    let result = name;
    if (number.test(name) && !isCounted(name, directory))
      result = result.replace(number, () => '${UID}');
    if (hasUser) result = result.replace(suffix, () => '${USER}');
    return result;
  };
}
