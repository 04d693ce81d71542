import type { Evidence } from '../evidence/evidence.ts';
import { makeRefusedTest, type Refusals } from './policy-refusals.ts';
import { type GrantChoice, rightsAt, WRITE } from './policy-grants.ts';

/** How much is granted for what was used. */
export interface Tightness {
  /** Places in the policy. */
  readonly entries: number;
  /** Distinct files that were read, written or executed, besides the system's own and the private tmp. */
  readonly used: number;
  /** Of all paths in the evidence: those that may be written, over those that were. 1 is as tight as can be. */
  readonly writeRatio: number;
  /** As comments. */
  readonly lines: readonly string[];
}

const QUIET_OPS: ReadonlySet<string> = new Set(['read', 'exec']);

/** From the evidence alone, so that it is the same wherever it is computed. */
export function measureTightness(
  runs: readonly Evidence[],
  choice: GrantChoice,
  refusals: Refusals,
): Tightness {
  const entries = choice.grants.size + choice.names.length;
  const used = runs.reduce(
    (sum, { run }) => sum + run.needs.used.read + run.needs.used.write + run.needs.used.exec,
    0,
  );
  let writable = 0;
  let written = 0;
  const seen = new Set<string>();
  for (const run of runs) {
    const isRefused = makeRefusedTest(run, refusals);
    for (const [path, ops] of Object.entries(run.entries.files)) {
      if (seen.has(path) || path.startsWith('${TMPDIR}')) continue;
      seen.add(path);
      if ((rightsAt(choice.grants, path) & WRITE) !== WRITE || isRefused(path)) continue;
      writable++;
      if (Object.entries(ops).some(([op, outcomes]) => !QUIET_OPS.has(op) && outcomes['ok']))
        written++;
    }
  }
  const writeRatio = written === 0 ? 1 : Math.round((writable / written) * 100) / 100;
  return {
    entries,
    used,
    writeRatio,
    lines: [
      `Tightness: ${count(entries, 'entry', 'entries')} for ${count(used, 'file', 'files')} used.`,
      `Granted over used, writing: ${writeRatio} (${writable} of the paths on record may be written, ${written} were).`,
    ],
  };
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
