import { AssayError } from '../../core/errors.ts';
import type { BundleEvent } from '../../evidence/bundle/bundle.ts';
import type { Fact } from '../../evidence/bundle/facts.ts';
import { findClosest } from '../../policy/did-you-mean.ts';
import { matchPattern } from '../../policy/glob.ts';
import type { FlagValues } from '../flag-values.ts';

export type IsWanted = (fact: Fact, event: BundleEvent) => boolean;

/** Kinds of facts, and `refusal` for whatever was refused. */
const KINDS = [
  'file',
  'program',
  'network',
  'refusal',
  'change',
  'degradation',
  'limit',
  'folded',
  'policy',
  'environment',
  'coverage',
  'other',
] as const;

const OUTCOME = /^(?:ok|failed|refused|unknown|\*|E[A-Z0-9]+)$/;

/** Reads --kind, --path and --outcome. What is given of each is an or, the three together are an and. */
export function makeFilter(flags: FlagValues): IsWanted | undefined {
  const kinds = flags.list('kind').map(checkKind);
  const patterns = flags.list('path');
  const outcomes = flags.list('outcome').map(checkOutcome);
  if (kinds.length + patterns.length + outcomes.length === 0) return undefined;
  return (fact, event) =>
    (kinds.length === 0 || kinds.some((kind) => isOfKind(fact, event, kind))) &&
    (patterns.length === 0 || hasPath(fact, event, patterns)) &&
    (outcomes.length === 0 || outcomes.some((outcome) => hasOutcome(fact, outcome)));
}

/** The type of an event is a kind as well. */
function checkKind(kind: string): string {
  if (kind.includes('.') || KINDS.some((known) => known === kind)) return kind;
  const closest = findClosest(kind, [...KINDS]);
  const guess = closest === undefined ? '' : `, did you mean ${closest}?`;
  throw new AssayError('E_USAGE', `--kind does not know "${kind}"${guess}`, {
    hint: `It takes ${KINDS.join(', ')}, or the type of an event such as assay.sandbox.layers`,
  });
}

function checkOutcome(outcome: string): string {
  if (OUTCOME.test(outcome)) return outcome;
  throw new AssayError('E_USAGE', `--outcome does not know "${outcome}"`, {
    hint: 'It takes ok, failed, refused, unknown, or the name of an error such as EACCES',
  });
}

function isOfKind(fact: Fact, { type }: BundleEvent, kind: string): boolean {
  if (kind.includes('.')) return type === kind;
  return kind === 'refusal' ? isRefused(fact) : fact.kind === kind;
}

function isRefused(fact: Fact): boolean {
  return 'refused_by' in fact && fact.refused_by !== undefined;
}

function hasPath(fact: Fact, { subject }: BundleEvent, patterns: readonly string[]): boolean {
  const paths: unknown[] = ['path' in fact ? fact.path : subject, 'target' in fact && fact.target];
  return paths.some(
    (path) =>
      typeof path === 'string' &&
      patterns.some((pattern) => matchPattern(pattern, path.replace(/(?<=.)\/$/, ''))),
  );
}

function hasOutcome(fact: Fact, wanted: string): boolean {
  if (!('outcome' in fact)) return false;
  const { outcome } = fact;
  if (wanted === 'refused') return isRefused(fact);
  if (wanted === 'failed') return outcome !== 'ok' && outcome !== '*';
  return outcome === wanted;
}
