import { looksRandom } from '../randomness.ts';
import { nameType, TYPE } from './record-types.ts';

/** Longer ones are rare among hosts, and the rule among tunnels, which want as much as fits. */
const LONG_LABEL = 50;
const LONG_NAME = 120;

/** Types that bring much back, or that only a tunnel asks for. */
const CARRIERS: ReadonlySet<number> = new Set([
  TYPE.TXT,
  TYPE.NULL,
  TYPE.ANY,
  TYPE.AXFR,
  TYPE.IXFR,
]);

/**
 * What about a question for a name that is not allowed looks like data on its way out; undefined when nothing does. Such a
 * question never leaves, whatever this says: it decides what is told and recorded.
 */
export function findTunnel(name: string, type: number): string | undefined {
  if (CARRIERS.has(type)) return `a question for ${nameType(type)}`;
  if (name.length > LONG_NAME) return `a name of ${name.length} characters`;
  const longest = Math.max(...name.split('.').map((label) => label.length));
  if (longest > LONG_LABEL) return `a label of ${longest} characters`;
  return looksRandom(name) ? 'a name that looks random' : undefined;
}
