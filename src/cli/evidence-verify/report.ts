import type { BundlePlace } from '../../evidence/bundle/bundle-error.ts';
import type { PolicyDifference } from '../../evidence/claims/policy-difference.ts';
import type { RequirementResult } from '../../evidence/claims/judge-requirements.ts';
import type { Surfaces } from '../../evidence/claims/surfaces.ts';

/** What verify can say, besides that all is well, gravest first; the first one that holds is the verdict. The codes are frozen. */
const VERDICTS = [
  { verdict: 'signature wrong', exitCode: 11 },
  { verdict: 'another policy', exitCode: 12 },
  { verdict: 'requirement not met', exitCode: 13 },
  { verdict: 'requirement not supported by coverage', exitCode: 14 },
  { verdict: 'intact, signer unknown', exitCode: 10 },
] as const;

const BEST = { verdict: 'intact and signed', exitCode: 0 } as const;

export type Verdict =
  (typeof VERDICTS)[number]['verdict'] | (typeof BEST)['verdict'] | 'not intact';

/** `note`: nothing is wrong, and it should be known. `skipped`: was not asked for, or could not be looked at. */
export type CheckStatus = 'passed' | 'failed' | 'note' | 'skipped';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** What the failure of this check makes of the whole. */
  readonly verdict?: Verdict | undefined;
}

/** `assay evidence verify --json` prints exactly this. */
export interface VerifyReport {
  readonly schema: 'assay.evidence-verify.v1';
  readonly bundle: string;
  readonly verdict: Verdict;
  readonly exitCode: number;
  /** Null when it is not intact: nothing in it can be believed then. */
  readonly subject: {
    readonly kind: 'sandbox' | 'upstream';
    readonly sha256: string;
    readonly bytes: number;
    readonly runId: string;
    readonly runRoot: string;
    readonly producer: { readonly name: string; readonly version: string };
    readonly policyDigest: string | null;
  } | null;
  readonly checks: readonly Omit<Check, 'verdict'>[];
  readonly signers: readonly {
    readonly keyId: string;
    readonly name: string;
    readonly file: string;
    readonly predicateType: string;
    readonly subjectName: string;
  }[];
  readonly policy: ({ readonly file: string; readonly digest: string } & PolicyDifference) | null;
  readonly coverage: Surfaces | null;
  readonly requirements: readonly RequirementResult[];
  readonly notClaimed: readonly string[];
  readonly error: {
    readonly code: string;
    readonly reason: string;
    readonly message: string;
    readonly at: BundlePlace | null;
  } | null;
}

/** Said of every bundle, whoever signed it. */
const NEVER_CLAIMED = [
  'that the signer told the truth, or that the machine was honest',
  'that what the program did is harmless',
] as const;

/** Said by bundles, and settled by a signature. */
const UNTIL_SIGNED = 'does_not_prove_who_made_it_without_a_signature';

/** What bundles say of themselves. */
const IN_WORDS: Readonly<Record<string, string>> = {
  does_not_prove_code_correctness: 'that the code is correct',
  does_not_prove_agent_intent: 'what an agent intended',
  does_not_replace_human_review: 'that nobody needs to look at it',
  [UNTIL_SIGNED]: 'who made it, unless a signature says so',
  does_not_bind_times: 'when it happened: nothing but the signature binds the times',
};

export function listNonClaims(own: readonly string[], isSigned: boolean): string[] {
  const open = own.filter((claim) => !isSigned || claim !== UNTIL_SIGNED);
  return [
    ...NEVER_CLAIMED,
    ...open.map((claim) => (Object.hasOwn(IN_WORDS, claim) ? (IN_WORDS[claim] ?? '') : claim)),
  ];
}

/** Without a signature that counts, nothing is better than a signer that is not known. */
export function chooseVerdict(
  checks: readonly Check[],
  { isSigned }: { readonly isSigned: boolean },
): Pick<VerifyReport, 'verdict' | 'exitCode'> {
  const said = new Set(checks.map(({ verdict }) => verdict));
  if (!isSigned) said.add('intact, signer unknown');
  return VERDICTS.find(({ verdict }) => said.has(verdict)) ?? BEST;
}
