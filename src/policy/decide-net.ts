import type { Decision } from './decide.ts';
import type { Host } from './host.ts';
import { judgeHost } from './net-judge.ts';
import { compileNetRules, type NetRules } from './net-rules.ts';
import { matchesTarget } from './net-target.ts';
import type { NetRule, Policy } from './policy.ts';

export interface NetQuery {
  readonly host: Host;
  readonly port?: number | undefined;
}

export interface NetDecision extends Decision<NetRule> {
  /** The loopback inside the sandbox, which is no destination outside. */
  readonly isOwnLoopback: boolean;
  readonly reason?: string | undefined;
  /** The host that an entry of `net.allow` would have to name; undefined when none can help. */
  readonly wanted?: Host | undefined;
}

/**
 * Deny beats allow, but for a deny of everything (`0.0.0.0/0`, `::/0`, `*`): that one states the default, which
 * would be the same without it, so that allow lists can be written next to it.
 */
export function decideNet(policy: Pick<Policy, 'net'>, query: NetQuery): NetDecision {
  return makeNetDecider(policy)(query);
}

/** For many questions about one policy. */
export function makeNetDecider({ net }: Pick<Policy, 'net'>): (query: NetQuery) => NetDecision {
  const compiled = compileNetRules(net);
  return (query) => decideCompiled(compiled, query);
}

function decideCompiled(compiled: NetRules, { host, port }: NetQuery): NetDecision {
  const judged = judgeHost(compiled, host, port);
  const own = compiled.rules.find(
    ({ isOwnLoopback, rule, targets }) =>
      isOwnLoopback &&
      rule.effect === 'allow' &&
      targets.some((target) => matchesTarget(target, host, port)),
  );
  const isRefused = judged.by?.rule.effect === 'deny';
  if (own && !isRefused && (!judged.isAllowed || judged.by === own))
    return { outcome: 'allow', rule: own.rule, isOwnLoopback: true };
  const { isAllowed, by, reason, wanted } = judged;
  const outcome = isAllowed ? 'allow' : 'deny';
  return { outcome, rule: by?.rule, isOwnLoopback: false, reason, wanted };
}
