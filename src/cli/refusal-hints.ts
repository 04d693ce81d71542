import { existsSync } from 'node:fs';
import { encodeName } from '../core/name-bytes.ts';
import { decodeUtf8 } from '../core/utf8.ts';
import type { Refusal, RunResult } from '../launch/run.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import {
  type AllowSuggestion,
  abbreviatePath,
  type RefusedOp,
  suggestAllow,
} from '../policy/suggest-flag.ts';

const MAX_LINES = 5;

function toRefusedOp(op: string): RefusedOp {
  if (op === 'read' || op === 'exec' || op === 'connect') return op;
  return 'write';
}

function describe({ op, path, rule, reason, isHidden }: Refusal, variables: Variables): string {
  const isAsItIs = toText(path) === path;
  const shown = abbreviatePath(path, variables, isAsItIs ? undefined : (rest) => rest);
  const { source, key, text } = rule && rule.effect !== 'allow' ? rule.origin : {};
  const why = key === undefined ? reason : `${source}, ${key}: ${text}`;
  return `${isHidden ? 'hidden' : 'refused'}: ${op} ${shown}${why === undefined ? '' : ` (${why})`}`;
}

/** What was refused by the rules for the network is told by those. */
export function isToldElsewhere({ op, path }: Refusal, { plan }: RunResult): boolean {
  return plan.network === 'brokered' && op === 'connect' && path.startsWith('tcp:');
}

interface Hint {
  readonly refusal: Refusal;
  readonly way: string;
}

/** The real name that a path is spelt for; undefined when it is no text. */
function toText(path: string): string | undefined {
  return decodeUtf8(encodeName(path));
}

/** Arguments and policies are text: of a name that is not, no more can be said than that of a directory above it. */
export function suggestFor(
  { op, path, reason }: Refusal,
  policy: Policy,
  variables: Variables,
): Pick<AllowSuggestion, 'flag' | 'policyLine'> {
  if (reason !== undefined) return { flag: undefined, policyLine: undefined };
  const text = toText(path);
  const name = text ?? encodeName(path).toString('utf8');
  const context = { policy, variables, isThere: existsSync };
  const { flag, policyLine } = suggestAllow(toRefusedOp(op), name, context);
  const isWritable = text !== undefined || !policyLine?.includes('\ufffd');
  return isWritable ? { flag, policyLine } : { flag: undefined, policyLine: undefined };
}

function findWay(refusal: Refusal, policy: Policy, variables: Variables): string {
  const { flag, policyLine } = suggestFor(refusal, policy, variables);
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
