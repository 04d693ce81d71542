import type { BundleManifest } from '../bundle/bundle.ts';
import { type Finding, isAtLeast } from './finding.ts';
import type { RuleInfo, Severity } from './rule.ts';

/** A pack as far as its results are concerned; the rules of ours are one, too. */
export interface LintedPack {
  /** `assay`, or the name and version of a pack. */
  readonly id: string;
  readonly rules: readonly RuleInfo[];
  readonly disclaimer?: string | undefined;
  /** Rules that were not tried, and why. */
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

export type FailOn = Severity | 'none';

export interface LintResult {
  /** As it was named. */
  readonly file: string;
  readonly version: string;
  readonly manifest: BundleManifest;
  readonly kind: 'sandbox' | 'upstream';
  /** Of the archive. */
  readonly sha256: string;
  readonly packs: readonly LintedPack[];
  /** The gravest first; no more than `maxResults`. */
  readonly findings: readonly Finding[];
  readonly left: number;
  readonly maxResults: number;
  /** Of everything that was found, also what is not listed. */
  readonly totals: Totals;
  /** The same by pack. */
  readonly packTotals: ReadonlyMap<string, Totals>;
  readonly failOn: FailOn;
  readonly hasFailed: boolean;
}

export interface Totals {
  readonly total: number;
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
}

function countFindings(findings: readonly Finding[]): Totals {
  const count = (severity: Severity): number =>
    findings.filter((finding) => finding.severity === severity).length;
  return {
    total: findings.length,
    errors: count('error'),
    warnings: count('warning'),
    infos: count('info'),
  };
}

export interface MakeResultInput extends Omit<
  LintResult,
  'findings' | 'left' | 'totals' | 'packTotals' | 'hasFailed'
> {
  readonly findings: readonly Finding[];
}

/** Counts and judges everything, and keeps the gravest. */
export function makeResult(input: MakeResultInput): LintResult {
  const { findings, packs, maxResults, failOn } = input;
  return {
    ...input,
    findings: findings.slice(0, maxResults),
    left: Math.max(0, findings.length - maxResults),
    totals: countFindings(findings),
    packTotals: new Map(
      packs.map(({ id }) => [id, countFindings(findings.filter(({ rule }) => rule.pack === id))]),
    ),
    hasFailed: failOn !== 'none' && findings.some(({ severity }) => isAtLeast(severity, failOn)),
  };
}
