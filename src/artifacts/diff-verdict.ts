import { type Comparison, isAboutRun } from '../evidence/diff/compare.ts';
import type { JudgedDifference } from '../evidence/diff/difference.ts';
import type { Gate } from '../evidence/diff/gate.ts';

export function describeTotal({ differences, hasSameRoot, notCompared }: Comparison): string {
  const total = countWords(differences);
  if (differences.length > 0 || hasSameRoot || notCompared.length > 0) return total;
  return `${total} in what is compared; the run roots differ, such as by counts or versions`;
}

export function describeGate({ failOn, failed, warnings }: Gate): string {
  if (failed.length > 0)
    return `Gate failed: ${failed.map(({ kind, count }) => `${kind} (${count})`).join(', ')}`;
  const doubt = warnings.length > 0 ? `, but ${warnings.join('; ')}` : '';
  return `Gate passed: no ${failOn.map((kind) => (kind === 'any' ? 'difference' : kind)).join(', ')}${doubt}`;
}

/** What the machine has read is counted apart. */
function countWords(differences: readonly JudgedDifference[]): string {
  const about = differences.filter(isAboutRun).length;
  const system = differences.length - about;
  const words = about === 0 ? 'No differences' : `${about} difference${about === 1 ? '' : 's'}`;
  return system > 0 ? `${words}, and ${system} in the system files read` : words;
}
