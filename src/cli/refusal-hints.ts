import { existsSync } from 'node:fs';
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

/** What was refused by the rules for the network is told by those. */
export function isToldElsewhere({ op, path }: Refusal, { plan }: RunResult): boolean {
  return plan.network === 'brokered' && op === 'connect' && path.startsWith('tcp:');
}

interface Hint {
  readonly refusal: Refusal;
  readonly way: string;
}

function findWay(refusal: Refusal, policy: Policy, variables: Variables): string {
  const { flag, policyLine } = suggestAllow(toRefusedOp(refusal.op), refusal.path, {
    policy,
    variables,
    isThere: existsSync,
  });
  const line = policyLine && `the policy line ${policyLine}`;
  if (flag === undefined) return line ?? '';
  return refusal.rule?.effect === 'config' && line ? `${flag}, or ${line}` : flag;
}

/** What can be allowed comes first, and what was refused before what is merely out of sight. */
function rank({ refusal, way }: Hint): number {
  return (refusal.isHidden ? 2 : 0) + (way ? 0 : 1);
}

/** One line for each refused place, with the flag or the policy line that would allow it. */
export function makeRefusalHints(
  result: RunResult,
  policy: Policy,
  variables: Variables,
): string[] {
  const limit = policy.isDefault ? 1 : MAX_LINES;
  const own = result.refusals.filter((refusal) => !isToldElsewhere(refusal, result));
  const hints = own.map((refusal) => ({
    refusal,
    way: findWay(refusal, policy, variables),
  }));
  const sorted = hints.toSorted((a, b) => rank(a) - rank(b));
  const lines = sorted
    .slice(0, limit)
    .map(
      ({ refusal, way }) =>
        `assay: ${describe(refusal, variables)}${way ? `; allow it with ${way}` : ''}`,
    );
  const more = sorted.length - lines.length;
  const last = lines.length - 1;
  if (more > 0 && last >= 0) lines[last] += ` (and ${more} more; --json lists all)`;
  return lines;
}
