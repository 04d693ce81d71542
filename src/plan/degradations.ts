import type { ActiveLayers } from './layers.ts';
import type { Needs } from './needs.ts';
import type { NetPlan } from './net-plan.ts';
import type { Degradation } from './plan.ts';

export function describeRule(rule: {
  readonly origin: { readonly key: string; readonly text: string };
}): string {
  return `${rule.origin.key}: ${rule.origin.text}`;
}

/** Rules that no layer which is left enforces. */
export function findDegradations(
  net: NetPlan,
  needs: Needs,
  active: ActiveLayers,
  hasWritableWorkspace: boolean,
): Degradation[] {
  const degradations: Degradation[] = [];
  if (active.landlockAbi === 0 && !active.has.broker)
    degradations.push({
      rule: 'fs',
      reason: 'without Landlock and the broker, reading outside the allowed paths is not refused',
    });
  if (!active.has.broker) {
    for (const rule of new Set(needs.conflicts.map(({ deny }) => describeRule(deny))))
      degradations.push({
        rule,
        reason: 'a deny inside an allowed path needs the broker',
      });
    if (hasWritableWorkspace)
      degradations.push({
        rule: 'configuration protection',
        reason: 'files that do not exist yet can only be protected by the broker',
      });
    if (needs.isAllowListKept && active.landlockAbi > 0)
      degradations.push({
        rule: 'fs wildcards',
        reason: 'an allow rule with a wildcard needs the broker',
      });
  }
  if (!active.has.pid)
    degradations.push({
      rule: 'processes',
      reason: 'without a pid namespace, processes outside can be seen',
    });
  if (!active.has.pid && active.landlockAbi < 6)
    degradations.push({
      rule: 'signals',
      reason: 'without a pid namespace and Landlock 6, processes outside can be signalled',
    });
  if (!active.has.net && net.network !== 'host')
    degradations.push({
      rule: 'network',
      reason: "without a network namespace, the host's sockets can be listed",
    });
  if (!active.has.seccomp)
    degradations.push({
      rule: 'system calls',
      reason: 'without seccomp, sockets and system calls are not restricted',
    });
  return [...degradations, ...net.open, ...net.closed];
}
