import { matchPattern, unescapeLiteral } from './glob.ts';
import type { FsRight, FsRule, Policy } from './policy.ts';

export interface FsQuery {
  readonly op: FsRight;
  /** Absolute, normalised and with symlinks resolved. */
  readonly path: string;
  /** The private tmp of the run: nothing in it outlives the run, so configuration is not protected there. */
  readonly tmpdir?: string | undefined;
}

/** Without a rule, nothing decided: what no rule allows is refused. */
export interface Decision<Rule> {
  readonly outcome: 'allow' | 'deny';
  readonly rule?: Rule | undefined;
}

/** Deny beats protect beats config beats allow. */
export function decide(policy: Pick<Policy, 'fs'>, query: FsQuery): Decision<FsRule> {
  const { op, path, tmpdir } = query;
  const matching = policy.fs.filter(
    (rule) => rule.rights.includes(op) && matchPattern(rule.pattern, path),
  );
  const isPrivate = tmpdir !== undefined && (path === tmpdir || path.startsWith(`${tmpdir}/`));
  const refusing =
    matching.find((rule) => rule.effect === 'deny') ??
    matching.find((rule) => rule.effect === 'protect') ??
    matching.find((rule) => rule.effect === 'config' && !isPrivate && !isLiftedFor(rule, matching));
  if (refusing) return { outcome: 'deny', rule: refusing };
  const rule = matching.find(({ effect }) => effect === 'allow');
  return rule ? { outcome: 'allow', rule } : { outcome: 'deny' };
}

/**
 * The rules that lift configuration protection by naming what it protects: write access whose own pattern lies at
 * or below the protected one, so `${CWD}/.vscode` and `${CWD}/**\/.vscode` but not `${CWD}`. Each lifts it for
 * the paths that it covers itself, and for no others.
 */
export function liftedBy(rule: FsRule, rules: readonly FsRule[]): FsRule[] {
  if (rule.effect !== 'config') return [];
  // Most rules do not hold the protected name at all, and every start asks about all of them.
  const name = rule.pattern.slice(rule.pattern.lastIndexOf('/') + 1);
  const hint = /[*?[\\]/.test(name) ? '' : name;
  return rules.filter(
    ({ effect, rights, pattern }) =>
      effect === 'allow' &&
      pattern.includes(hint) &&
      rights.includes('write') &&
      // Compared as text: a wildcard in the other pattern must be in the protected one too.
      matchPattern(rule.pattern, unescapeLiteral(pattern)),
  );
}

function isLiftedFor(rule: FsRule, matching: readonly FsRule[]): boolean {
  return liftedBy(rule, matching).length > 0;
}
