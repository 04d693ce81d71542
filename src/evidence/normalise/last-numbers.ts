import type { Births } from './births.ts';
import { isYear } from './loose.ts';
import { MASK } from './masks.ts';
import type { NoteMask } from './masks.ts';

/** `310` of `massif.out.310`; behind `.so.` it is a version. */
const LAST_NUMBER = /^(.*[A-Za-z_]\.)(?<!\.so\.)(\d{3,4})$/s;

/**
 * Masks a number behind the last dot of a name that is a process number of the run. Where these are low, they are told
 * from others by nothing but this place, and by what is beside them: of a series, some would not be processes.
 */
export function makeLastNumberMask(
  births: Births,
  isProcess: (number: number) => boolean,
): (name: string, path: string, note: NoteMask) => string {
  const isLikely = (digits: string): boolean =>
    !digits.startsWith('0') && !isYear(digits) && isProcess(Number(digits));
  const series = new Set<string>();
  for (const path of births.listBorn()) {
    const [, start = '', digits = ''] = LAST_NUMBER.exec(path) ?? [];
    if (digits !== '' && !isLikely(digits)) series.add(start);
  }
  return (name, path, note) => {
    const [, start = '', digits = ''] = LAST_NUMBER.exec(name) ?? [];
    if (digits === '' || !isLikely(digits)) return name;
    if (series.has(path.slice(0, -digits.length))) return name;
    note('pid', digits);
    return start + MASK;
  };
}
