import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileTree } from '../../plan/file-tree.ts';
import { isAtOrBelow } from '../../plan/file-tree.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { decide, type Decision } from '../../policy/decide.ts';
import { matchPattern } from '../../policy/glob.ts';
import type { FsRule, Policy, Variables } from '../../policy/policy.ts';
import { type AllowSuggestion, type RefusedOp, suggestAllow } from '../../policy/suggest-flag.ts';
import { type Enforcement, findEnforcement, seePath } from './enforcement.ts';
import { type RuleText, toRuleText } from './rule-text.ts';

export interface OpExplanation {
  readonly op: RefusedOp;
  readonly outcome: 'allow' | 'deny';
  /** Null when no rule decides: what nothing allows is refused. */
  readonly rule: RuleText | null;
  readonly layers: readonly Enforcement[];
  /** False when the policy refuses this and nothing here sees to it. */
  readonly isEnforced: boolean;
  readonly allowWith: { readonly flag: string | null; readonly policyLine: string | null } | null;
}

/** `assay policy explain PATH --json` prints exactly this. */
export interface PathExplanation {
  readonly schema: 'assay.explain.v1';
  readonly kind: 'path';
  readonly asked: string;
  /** With links resolved. */
  readonly path: string;
  readonly exists: boolean;
  readonly policy: string;
  readonly ops: readonly OpExplanation[];
  readonly notes: readonly string[];
}

export interface ExplainInput {
  /** With the links in its rules resolved. */
  readonly policy: Policy;
  readonly variables: Variables;
  readonly tree: FileTree;
  readonly plan: Plan;
}

/** Nobody connects to a plain file or a directory. */
function chooseOps(path: string, tree: FileTree): RefusedOp[] {
  const kind = tree.kind(path);
  const isSocketLike = kind === null || kind === 'other';
  return ['read', 'write', 'exec', ...(isSocketLike ? (['connect'] as const) : [])];
}

/** The real place that a name leads to; what does not exist yet stands below the nearest directory that does. */
export function resolvePath(
  text: string,
  { variables, tree }: Pick<ExplainInput, 'variables' | 'tree'>,
): string {
  const isHome = text === '~' || text.startsWith('~/');
  const path = isHome ? resolve(variables.home, `.${text.slice(1)}`) : resolve(variables.cwd, text);
  let at = path;
  let real = tree.realpath(at);
  while (real === null && at !== '/') {
    at = at.slice(0, at.lastIndexOf('/')) || '/';
    real = tree.realpath(at);
  }
  return (
    `${real === '/' || real === null ? '' : real}${path.slice(at === '/' ? 0 : at.length)}` || '/'
  );
}

/** A socket is reached by `unix.allow` and by nothing else; a denied place is denied as a socket, too. */
function decideConnect({ policy, variables }: ExplainInput, path: string): Decision<FsRule> {
  const covers = (rule: FsRule): boolean => matchPattern(rule.pattern, path);
  const deny = policy.fs.find((rule) => rule.effect === 'deny' && covers(rule));
  if (deny) return { outcome: 'deny', rule: deny };
  const allow = policy.unix.find(covers);
  if (allow) return { outcome: 'allow', rule: allow };
  return { outcome: isAtOrBelow(path, variables.tmpdir) ? 'allow' : 'deny' };
}

function describeSuggestion({
  flag,
  policyLine,
  refusedBy,
}: AllowSuggestion): OpExplanation['allowWith'] {
  const isFinal = refusedBy !== undefined && refusedBy.effect !== 'config';
  return isFinal ? null : { flag: flag ?? null, policyLine: policyLine ?? null };
}

function explainOp(op: RefusedOp, path: string, input: ExplainInput): OpExplanation {
  const { policy, variables, plan } = input;
  const { outcome, rule } =
    op === 'connect'
      ? decideConnect(input, path)
      : decide(policy, { op, path, tmpdir: variables.tmpdir });
  const layers = findEnforcement({ op, path, outcome, rule, policy, plan });
  return {
    op,
    outcome,
    rule: rule ? toRuleText(rule) : null,
    layers,
    isEnforced: outcome === 'allow' || layers.length > 0,
    allowWith:
      outcome === 'allow'
        ? null
        : describeSuggestion(suggestAllow(op, path, { policy, variables, isThere: existsSync })),
  };
}

/** Granted, and yet the place where it would be made is not there inside, or read-only. */
function isOutOfReach({ op, outcome }: OpExplanation, path: string, plan: Plan): boolean {
  const { kind } = seePath(plan, path);
  return op === 'write' && outcome === 'allow' && (kind === 'hidden' || kind === 'read-only');
}

function findNotes(path: string, ops: readonly OpExplanation[], input: ExplainInput): string[] {
  const { plan, variables, tree } = input;
  const notes: string[] = [];
  if (!isAtOrBelow(path, variables.tmpdir) && seePath(plan, path).kind === 'private')
    notes.push(
      'inside, this place is private to the run: what is here outside is neither seen nor changed',
    );
  if (tree.realpath(path) === null && ops.some((op) => isOutOfReach(op, path, plan)))
    notes.push('it cannot be made here: for that, grant a directory that exists');
  return notes;
}

/** Without an operation, each that makes sense for what is there. */
export function explainPath(
  asked: string,
  op: RefusedOp | undefined,
  input: ExplainInput,
): PathExplanation {
  const path = resolvePath(asked, input);
  const ops = (op === undefined ? chooseOps(path, input.tree) : [op]).map((one) =>
    explainOp(one, path, input),
  );
  return {
    schema: 'assay.explain.v1',
    kind: 'path',
    asked,
    path,
    exists: input.tree.realpath(path) !== null,
    policy: input.policy.name,
    ops,
    notes: findNotes(path, ops, input),
  };
}
