import { findCommonGround } from './common-ground.ts';
import { compareDifferences, compareLedger } from './compare-ledger.ts';
import { compareStatements } from './compare-statements.ts';
import type { JudgedDifference, Kind } from './difference.ts';
import { makeJudge } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Side } from './side.ts';

const MAX_REASONS = 5;

export interface Comparison {
  readonly baseline: Side;
  readonly candidate: Side;
  /** By group and subject. */
  readonly differences: readonly JudgedDifference[];
  /** How many differences of each kind there are; only those that there are. */
  readonly counts: Readonly<Partial<Record<Kind, number>>>;
  /** What the two bundles cannot be compared on. */
  readonly notCompared: readonly string[];
  /** Why what is missing in the record may still have happened; empty where it cannot. */
  readonly doubts: readonly string[];
  /** Equal run roots: not a byte of what was recorded differs. */
  readonly hasSameRoot: boolean;
}

/** The ledger holds the lines of both, and each side has been read to its end. */
export function compareBundles(ledger: Ledger, baseline: Side, candidate: Side): Comparison {
  const ground = findCommonGround(ledger, baseline, candidate);
  const judge = makeJudge(candidate.statement);
  const differences = [
    ...compareLedger(ground.ledger),
    ...(ground.isWhole ? compareStatements(baseline.statement, candidate.statement) : []),
  ]
    .map(judge)
    .sort(compareDifferences);
  return {
    baseline,
    candidate,
    differences,
    counts: countKinds(differences),
    notCompared: ground.notCompared,
    doubts: [...listDoubts('baseline', baseline), ...listDoubts('candidate', candidate)],
    hasSameRoot: baseline.manifest.run_root === candidate.manifest.run_root,
  };
}

/** Differences that say something about the run and not about the machine. */
export function isAboutRun({ group }: Pick<JudgedDifference, 'group'>): boolean {
  return group !== 'system-reads';
}

function countKinds(differences: readonly JudgedDifference[]): Partial<Record<Kind, number>> {
  const counts: Partial<Record<Kind, number>> = {};
  for (const { kinds } of differences)
    for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function listDoubts(name: string, { kind, statement }: Side): string[] {
  if (kind === 'upstream')
    return [`the ${name} is of the older format, which does not establish what was watched`];
  return [...statement.coverage]
    .filter(([, { status }]) => status !== 'complete')
    .map(([surface, { status, reasons }]) => {
      const more = reasons.length > MAX_REASONS ? `; and ${reasons.length - MAX_REASONS} more` : '';
      const why = reasons.length > 0 ? ` (${reasons.slice(0, MAX_REASONS).join('; ')}${more})` : '';
      return `${surface} of the ${name}: ${status}${why}`;
    })
    .sort();
}
