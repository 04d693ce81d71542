import { makeProtectedPaths, type ProtectedPaths } from '../protected-path.ts';
import type { Difference, Facet, JudgedDifference, Kind, RunStatement } from './difference.ts';
import { KINDS } from './difference.ts';
import { effectOf, isDone, isOutside, leadsOut, listWritten } from './places.ts';
import { isPolicyWeakened } from './weakening.ts';

/** Best first. What the older format claims ranks below what was really watched. */
const COVERAGE_RANKS = [
  'complete',
  'observed',
  'partial',
  'self_reported',
  'unavailable',
  'absent',
];
const LAYER_RANKS = ['enforced', 'partial', 'absent'];
const FOLDED = 'overflow ';

/** Says what each difference amounts to, seen from the candidate. */
export function makeJudge(candidate: RunStatement): (difference: Difference) => JudgedDifference {
  const context = {
    configuration: makeProtectedPaths(),
    isHostNetwork: candidate.network === 'host',
  };
  const order = Object.keys(KINDS);
  return (difference) => ({
    ...difference,
    kinds: [...new Set(findKinds(difference, context))].sort(
      (a, b) => order.indexOf(a) - order.indexOf(b),
    ),
  });
}

interface Context {
  readonly configuration: ProtectedPaths;
  /** Loopback is that of the machine. */
  readonly isHostNetwork: boolean;
}

function findKinds(difference: Difference, context: Context): Kind[] {
  const { group, after } = difference;
  switch (group) {
    case 'network':
      return judgeEndpoint(difference, context);
    case 'files':
      return judgeWrites(difference, context);
    case 'programs':
      return judgeProgram(difference);
    case 'refusals':
      return isNewTo(difference, describeAttempt) ? ['new-denial'] : [];
    case 'folded':
      return judgeFold(difference, context);
    case 'coverage':
      return isCoverageLost(difference) ? ['coverage-loss'] : [];
    case 'degradations':
      return after.length > 0 ? ['degradation'] : [];
    case 'layers':
      return isLost(difference, LAYER_RANKS) ? ['layer-loss'] : [];
    case 'policy':
      return judgePolicy(difference);
    case 'environment':
      return after.some(({ state }) => state === 'passed') ? ['new-environment'] : [];
    case 'run':
      return judgeRun(difference);
    case 'limits':
      return ['end-change'];
    case 'events':
    case 'system-reads':
      return [];
  }
}

/** Whether the candidate has something of which the baseline has nothing alike. */
function isNewTo(
  { before, after, same }: Difference,
  describe: (facet: Facet) => string | undefined,
): boolean {
  const known = new Set([...before, ...same].map(describe));
  return after.map(describe).some((text) => text !== undefined && !known.has(text));
}

/** The same attempt by another program is no new one. */
function describeAttempt({ op = '', target = '' }: Facet): string {
  return JSON.stringify([op, target]);
}

function judgeEndpoint(difference: Difference, { isHostNetwork }: Context): Kind[] {
  // Also an attempt that failed: nothing of ours stopped it.
  if (!isNewTo(difference, ({ op = '' }) => op)) return [];
  const { subject, after } = difference;
  const isOut = after.some(({ op = '' }) => leadsOut(subject, op, isHostNetwork));
  return isOut ? ['new-host', 'new-endpoint'] : ['new-endpoint'];
}

function judgeWrites(difference: Difference, { configuration }: Context): Kind[] {
  const { subject, before, after, same } = difference;
  const known = new Set([...before, ...same].map(effectOf));
  const kinds: Kind[] = [];
  for (const facet of after) {
    const effect = effectOf(facet);
    if (effect === undefined) continue;
    // Where a file was moved to is a place of its own.
    const isKnown = known.has(effect) && facet['target'] === undefined;
    if (isKnown) continue;
    const written = listWritten(subject, facet);
    if (written.some(isOutside)) kinds.push('new-write-outside');
    if (written.some((path) => configuration.find(path) !== undefined))
      kinds.push('new-write-config');
  }
  return kinds;
}

function judgeProgram(difference: Difference): Kind[] {
  const isRun = (facet: Facet): boolean =>
    facet['op'] === 'run' || (facet['op'] === 'exec' && isDone(facet));
  const { before, after, same } = difference;
  const ran = after.filter(isRun);
  const hasRun = [...before, ...same].some(isRun);
  if (ran.length > 0 && !hasRun) return ['new-program'];
  // An interpreter is as new as what it runs.
  const isNewScript = isNewTo(difference, ({ op, target }) => (op === 'run' ? target : undefined));
  const isChanged = after.some((facet) => isRun(facet) || facet['op'] === 'image');
  return [
    ...(isNewScript ? (['new-program'] as const) : []),
    ...(isChanged ? (['changed-program'] as const) : []),
  ];
}

/** So many names that only their digest was kept: which of them are new cannot be said, so any may be. */
function judgeFold(difference: Difference, context: Context): Kind[] {
  const { subject, after, same, change } = difference;
  const writes = after.map((facet) => ({
    op: (facet['op'] ?? '').slice(FOLDED.length),
    outcome: facet['outcome'] ?? 'ok',
  }));
  const kinds = judgeWrites(
    { ...difference, subject: `${subject}/*`, before: [], after: writes, same: [] },
    context,
  );
  const isNew = after.length > 0 && same.length === 0 && change === 'new';
  return isNew ? [...kinds, 'coverage-loss'] : kinds;
}

function isLost({ before, after }: Difference, ranks: readonly string[]): boolean {
  const rankOf = (facets: readonly Facet[]): number => {
    const [status] = facets.flatMap((facet) => facet['status'] ?? []);
    return status === undefined ? Infinity : ranks.indexOf(status);
  };
  if (before.length === 0) return false;
  return rankOf(after) > rankOf(before);
}

/** A lower status, or the same with one more reason why something was not seen. */
function isCoverageLost(difference: Difference): boolean {
  const hasStatus = difference.before.some(({ status }) => status !== undefined);
  if (hasStatus) return isLost(difference, COVERAGE_RANKS);
  return difference.change === 'changed' && difference.after.length > 0;
}

function judgePolicy(difference: Difference): Kind[] {
  // The name says nothing about what is in it.
  if (difference.subject === 'name' || difference.subject.startsWith('toolchain: ')) return [];
  return isPolicyWeakened(difference) ? ['policy-weakened', 'policy-change'] : ['policy-change'];
}

function judgeRun({ subject, before, after }: Difference): Kind[] {
  const value = after[0]?.['value'];
  if (subject === 'command') return ['command-change'];
  if (subject === 'mode') return value === 'dry-run' ? ['degradation'] : [];
  if (subject === 'level') return before[0]?.['value'] === 'all' ? ['coverage-loss'] : [];
  if (subject === 'network')
    return value === 'host' ? ['policy-weakened', 'policy-change'] : ['policy-change'];
  return ['end-change'];
}
