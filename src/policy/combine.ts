import { checkExamples } from './examples.ts';
import type { Policy } from './policy.ts';
import { toQuickNetRules } from './quick-net.ts';
import { type PolicyChecks, resolveRunPolicy, type ResolveInput } from './resolve.ts';

export const POLICY_CHECKS: PolicyChecks = { checkExamples, toQuickNetRules };

/** The same for who does not care what is loaded. */
export function resolvePolicy(input: ResolveInput): Policy {
  return resolveRunPolicy({ checks: POLICY_CHECKS, ...input });
}
