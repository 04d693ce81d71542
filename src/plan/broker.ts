import { liftedBy } from '../policy/decide.ts';
import { escapeLiteral, isLiteral, literalPrefix, unescapeLiteral } from '../policy/glob.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import type { FileTree } from './file-tree.ts';
import { CONNECT, isSystemRule, rightBits, WRITE } from './grants.ts';
import type { BrokerRule } from './plan.ts';

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

const EFFECTS = { allow: 'allow', deny: 'deny', protect: 'deny', config: 'protect' } as const;

export interface BrokerOptions {
  readonly policy: Policy;
  readonly tree: FileTree;
}

export function planBrokerRules({ policy, tree }: BrokerOptions): BrokerRule[] {
  const rules: BrokerRule[] = [];
  let id = 0;
  const add = (effect: BrokerRule['effect'], ops: number, pattern: string, rule: FsRule): void => {
    rules.push({ id: ++id, effect, ops, pattern, rule });
  };
  // The system's own rules name devices and the private tmp, never configuration.
  const naming = policy.fs.filter(
    (rule) => rule.effect === 'allow' && rule.rights.includes('write') && !isSystemRule(rule),
  );
  for (const rule of policy.fs) {
    // A denied place is denied as a socket, too.
    const extra = rule.effect === 'deny' ? CONNECT : 0;
    const pattern =
      isSystemRule(rule) || (rule.effect === 'config' && rule.pattern.startsWith('/**'))
        ? rule.pattern
        : canonicalPattern(rule.pattern, tree);
    add(EFFECTS[rule.effect], rightBits(rule.rights) | extra, pattern, rule);
    if (naming.length === 0) continue;
    // A lift bears the number of the one rule that it lifts.
    for (const lift of liftedBy(rule, naming))
      rules.push({
        id,
        effect: 'lift',
        ops: WRITE,
        pattern: canonicalPattern(lift.pattern, tree),
        rule: lift,
      });
  }
  for (const rule of policy.unix) add('allow', CONNECT, canonicalPattern(rule.pattern, tree), rule);
  return rules;
}
