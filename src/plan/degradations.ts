import type { NetRule, Policy } from '../policy/policy.ts';
import type { ActiveLayers } from './layers.ts';
import type { Needs } from './needs.ts';
import type { DoorPlan } from './doors.ts';
import { isByAddress, isEverything, mayNeedDoor, type Network, planNetwork } from './network.ts';
import type { Degradation } from './plan.ts';

export function describeRule(rule: {
  readonly origin: { readonly key: string; readonly text: string };
}): string {
  return `${rule.origin.key}: ${rule.origin.text}`;
}

/** Rules that no layer which is left enforces. */
export function findDegradations(
  policy: Policy,
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
    for (const deny of new Set(needs.conflicts.map((conflict) => conflict.deny)))
      degradations.push({
        rule: describeRule(deny),
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
  if (!active.has.net && planNetwork(policy, active) !== 'host')
    degradations.push({
      rule: 'network',
      reason: "without a network namespace, the host's sockets can be listed",
    });
  if (!active.has.seccomp)
    degradations.push({
      rule: 'system calls',
      reason: 'without seccomp, sockets and system calls are not restricted',
    });
  if (planNetwork(policy, active) === 'host')
    for (const rule of policy.net)
      if (rule.effect === 'deny' && !isEverything(rule.text))
        degradations.push({
          rule: describeRule(rule),
          reason: 'the host network is allowed as a whole',
        });
  return degradations;
}

/** Names and addresses that the policy grants, and that cannot be reached, or not by every program. */
export function findDoorDegradations(
  policy: Policy,
  network: Network,
  doors: DoorPlan | null,
): Degradation[] {
  if (network === 'host' || doors?.status === 'enforced') return [];
  const reason = doors ? doors.reason : 'reaching hosts needs net, or the broker and Landlock 4';
  // The broker knows addresses as well as any door does; it is names that not every program finds.
  const isMissed = (rule: NetRule): boolean =>
    mayNeedDoor(rule) && (network !== 'brokered' || !isByAddress(rule));
  return policy.net.filter(isMissed).map((rule) => ({ rule: describeRule(rule), reason }));
}
