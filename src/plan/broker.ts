import { liftedBy } from '../policy/decide.ts';
import { escapeLiteral, isLiteral, literalPrefix, unescapeLiteral } from '../policy/glob.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import { mayNameConfig } from '../policy/protected-config.ts';
import { type FileTree, isAtOrBelow } from './file-tree.ts';
import { CONNECT, rightBits, type SystemGroup, WRITE } from './grants.ts';
import type { BrokerRules } from './plan.ts';

/** The broker sees paths with links resolved, so its rules must be about those. */
export function canonicalPattern(pattern: string, tree: FileTree): string {
  const base = isLiteral(pattern) ? unescapeLiteral(pattern) : literalPrefix(pattern);
  const rest = isLiteral(pattern) ? '' : pattern.slice(base === '/' ? 0 : base.length);
  const missing: string[] = [];
  let at = base;
  let real = tree.realpath(at);
  while (real === null && at !== '/') {
    const cut = at.lastIndexOf('/');
    missing.unshift(at.slice(cut));
    at = at.slice(0, cut) || '/';
    real = tree.realpath(at);
  }
  const resolved = `${real === '/' || real === null ? '' : real}${missing.join('')}`;
  return `${escapeLiteral(resolved)}${rest}` || '/';
}

/** The last name itself, in the real place of its directory. */
function canonicalName(pattern: string, tree: FileTree): string {
  const cut = pattern.lastIndexOf('/');
  if (!isLiteral(pattern) || cut <= 0) return canonicalPattern(pattern, tree);
  const dir = canonicalPattern(pattern.slice(0, cut), tree);
  return `${dir === '/' ? '' : dir}${pattern.slice(cut)}`;
}

const EFFECTS = { allow: 'allow', deny: 'deny', protect: 'deny', config: 'protect' } as const;

export interface BrokerOptions {
  readonly policy: Policy;
  readonly tree: FileTree;
  readonly system: readonly SystemGroup[];
}

/** Collects rules in a row that differ in their pattern only, numbering them from 1. */
class RuleRows {
  readonly rows: (BrokerRules & { patterns: string[]; rules: FsRule[] })[] = [];
  lastId = 0;

  add(effect: BrokerRules['effect'], ops: number, pattern: string, rule: FsRule): void {
    this.lastId += 1;
    const last = this.rows.at(-1);
    if (last && last.effect === effect && last.ops === ops) {
      last.patterns.push(pattern);
      last.rules.push(rule);
    } else
      this.rows.push({ firstId: this.lastId, effect, ops, patterns: [pattern], rules: [rule] });
  }
}

export function planBrokerRules({ policy, tree, system }: BrokerOptions): BrokerRules[] {
  const rows = new RuleRows();
  const lifts: BrokerRules[] = [];
  const naming = policy.fs.filter(
    (rule) => rule.effect === 'allow' && !rule.isSystem && rule.rights.includes('write'),
  );
  const lifting = naming.filter(({ pattern }) => mayNameConfig(pattern));
  for (const rule of policy.fs) {
    if (rule.isSystem) continue;
    // A denied place is denied as a socket, too.
    const extra = rule.effect === 'deny' ? CONNECT : 0;
    const isAnywhere = rule.effect === 'config' && rule.pattern.startsWith('/**');
    const pattern = isAnywhere ? rule.pattern : canonicalPattern(rule.pattern, tree);
    const ops = rightBits(rule.rights) | extra;
    rows.add(EFFECTS[rule.effect], ops, pattern, rule);
    // A name that is a link is refused as well as what it leads to, or another could be put in its place.
    const named =
      isAnywhere || rule.effect === 'allow' ? pattern : canonicalName(rule.pattern, tree);
    if (named !== pattern) rows.add(EFFECTS[rule.effect], ops, named, rule);
    if (rule.effect !== 'config') continue;
    const candidates = isAnywhere ? lifting : naming;
    for (const lift of candidates.length > 0 ? liftedBy(rule, candidates) : []) {
      const patterns = [canonicalPattern(lift.pattern, tree)];
      lifts.push({ firstId: rows.lastId, effect: 'lift', ops: WRITE, patterns, rules: [lift] });
    }
  }
  for (const rule of policy.unix)
    rows.add('allow', CONNECT, canonicalPattern(rule.pattern, tree), rule);
  let firstId = rows.lastId + 1;
  for (const { rights, paths, rules } of system) {
    rows.rows.push({ firstId, effect: 'allow', ops: rights, patterns: paths, rules });
    firstId += paths.length;
  }
  return [...rows.rows, ...lifts];
}

/** What the broker names instead of a rule, which no rule can lift: a socket that was made outside and handed over. */
export const FOREIGN_SOCKET = { id: -3, rule: 'socket of another network' } as const;

/** The rule with this number, which the broker names when it refuses. */
export function findBrokerRule(rows: readonly BrokerRules[], id: number): FsRule | undefined {
  const row = rows.find(
    ({ effect, firstId, rules }) =>
      effect !== 'lift' && id >= firstId && id < firstId + rules.length,
  );
  return row?.rules[id - row.firstId];
}

/** Whether a grant for writing names the place, or what is at `path` in it. One for a directory above it does not. */
export function isNamedForWriting(
  rows: readonly BrokerRules[],
  path: string,
  place = path,
): boolean {
  return rows.some(
    ({ effect, ops, patterns }) =>
      effect === 'allow' &&
      (ops & WRITE) !== 0 &&
      patterns.some((pattern) => {
        const named = isLiteral(pattern) ? unescapeLiteral(pattern) : '';
        return named.length >= place.length && isAtOrBelow(path, named);
      }),
  );
}
