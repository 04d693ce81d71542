import type { Refusal, RunResult } from '../launch/run.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import { abbreviatePath, type RefusedOp, suggestAllow } from '../policy/suggest-flag.ts';

const MAX_LINES = 5;

export function toRefusedOp(op: string): RefusedOp {
  if (op === 'read' || op === 'exec' || op === 'connect') return op;
  return 'write';
}

function describe({ op, path, rule, isHidden }: Refusal, variables: Variables): string {
  const shown = abbreviatePath(path, variables);
  const why =
    rule && rule.effect !== 'allow'
      ? ` (${rule.origin.source}, ${rule.origin.key}: ${rule.origin.text})`
      : '';
  return `${isHidden ? 'hidden' : 'refused'}: ${op} ${shown}${why}`;
}

/** One line for each refused place, with the flag or the policy line that would allow it. */
export function makeRefusalHints(
  result: RunResult,
  policy: Policy,
  variables: Variables,
): string[] {
  const limit = policy.isDefault ? 1 : MAX_LINES;
  // A refusal says more than a probe for something that is out of sight.
  const sorted = result.refusals.toSorted((a, b) => Number(a.isHidden) - Number(b.isHidden));
  const lines = sorted.slice(0, limit).map((refusal) => {
    const { flag, policyLine } = suggestAllow(toRefusedOp(refusal.op), refusal.path, {
      policy,
      variables,
    });
    const way = flag ?? (policyLine && `policy line ${policyLine}`);
    const both =
      refusal.rule?.effect === 'config' && policyLine ? `, or the policy line ${policyLine}` : '';
    return `assay: ${describe(refusal, variables)}${way ? `; allow it with ${way}${both}` : ''}`;
  });
  const more = sorted.length - lines.length;
  const last = lines.length - 1;
  if (more > 0 && last >= 0) lines[last] += ` (and ${more} more; --json lists all)`;
  return lines;
}
