import { readHostTree } from '../../launch/host-tree.ts';
import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import type { PolicyData } from '../../evidence/bundle/event-data.ts';
import { comparePolicies, type PolicyDifference } from '../../evidence/claims/policy-difference.ts';
import {
  digestEffectivePolicy,
  type EffectivePolicy,
  makeEffectivePolicy,
} from '../../policy/effective-policy.ts';
import { loadRunPolicy, readVariables } from '../load-run-policy.ts';
import type { Check } from './report.ts';

export interface ExpectedPolicy {
  readonly file: string;
  readonly effective: EffectivePolicy;
  readonly digest: string;
}

/** The policy of a file, just as a run would load it. */
export async function loadExpectedPolicy(file: string): Promise<ExpectedPolicy> {
  const variables = readVariables({}, readHostTree());
  const effective = makeEffectivePolicy(
    await loadRunPolicy({ policy: file }, variables),
    variables,
  );
  return { file, effective, digest: digestEffectivePolicy(effective) };
}

export interface PolicyCheckInput {
  readonly expected: ExpectedPolicy;
  readonly bundle: VerifiedBundle;
  readonly inBundle: PolicyData | undefined;
  /** How many rules were not enforced. */
  readonly degradations: number;
}

export function makePolicyCheck(input: PolicyCheckInput): {
  readonly check: Check;
  readonly difference: PolicyDifference;
} {
  const { expected, bundle, inBundle } = input;
  const { sandbox } = bundle.manifest;
  const none = { onlyInBundle: [], onlyInFile: [] };
  const failed = { name: 'policy', status: 'failed', verdict: 'another policy' } as const;
  if (sandbox === undefined || inBundle === undefined)
    return {
      check: { ...failed, detail: 'the bundle does not say under which policy it ran' },
      difference: none,
    };
  const { digest } = sandbox.policy;
  if (digest !== expected.digest)
    return {
      check: {
        ...failed,
        detail: `ran under ${digest}, ${expected.file} is ${expected.digest}`,
      },
      difference: comparePolicies(inBundle.policy, expected.effective),
    };
  return { check: describeEqual(input, sandbox.mode), difference: none };
}

/** The same policy is not always the same boundary. */
function describeEqual({ expected, degradations }: PolicyCheckInput, mode: string): Check {
  const notes = [
    ...(mode === 'dry-run' ? ['a dry run, which enforces nothing'] : []),
    ...(degradations === 1 ? ['1 rule was not enforced'] : []),
    ...(degradations > 1 ? [`${degradations} rules were not enforced`] : []),
  ];
  return {
    name: 'policy',
    status: notes.length > 0 ? 'note' : 'passed',
    detail: [`ran under ${expected.file}, ${expected.digest}`, ...notes].join('; '),
  };
}
