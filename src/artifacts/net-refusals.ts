import { compileNetRule } from '../policy/net-rules.ts';
import {
  findHostSet,
  isCatchAll,
  matchesTarget,
  type NetTarget,
  parseNetTarget,
  toQuery,
} from '../policy/net-target.ts';

/** Of denied destinations those that cut into what is allowed. */
export function findCuttingEntries(
  denied: readonly string[],
  allowed: readonly string[],
): string[] {
  const grants = allowed.flatMap((text) => {
    const target = parseNetTarget(text);
    return 'problem' in target ? [] : [target];
  });
  return denied.filter((text) => {
    // What such a set holds is told where the policy is used.
    if (findHostSet(text) !== undefined) return grants.length > 0;
    const origin = { source: 'net.deny', key: 'net.deny', text };
    const { targets } = compileNetRule({ effect: 'deny', text, origin });
    return targets.some((target) => grants.some((grant) => canMeet(target, grant)));
  });
}

/** A name may lead to any address. */
function canMeet(denied: NetTarget, allowed: NetTarget): boolean {
  if (isCatchAll(allowed)) return true;
  const query = toQuery(allowed);
  if (!query) return true;
  const isByAddress = denied.kind === 'ip' && query.host.name !== undefined;
  return matchesTarget(
    isByAddress ? { kind: 'any', ports: denied.ports } : denied,
    query.host,
    query.port,
  );
}
