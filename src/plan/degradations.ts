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
  needs: Pick<Needs, 'conflicts' | 'isAllowListKept'>,
  active: ActiveLayers,
  hasWritableWorkspace: boolean,
): Degradation[] {
  const { has } = active;
  const degradations: Degradation[] = [];
  if (active.landlockAbi === 0 && !has.broker)
    degradations.push({
      rule: 'fs',
      reason: has.mount
        ? 'without Landlock and the broker, what is not hidden can be read'
        : 'without Landlock, the broker and mount, reading and writing outside the allowed paths are not refused',
    });
  if (!has.broker && !has.mount && !has.seccomp)
    degradations.push({
      rule: 'fs attributes',
      reason:
        'without seccomp, the broker and mount, modes, owners and times outside can be changed',
    });
  if (!has.broker) {
    for (const rule of new Set(needs.conflicts.map(({ deny }) => describeRule(deny))))
      degradations.push({
        rule,
        reason: 'a deny inside an allowed path needs the broker',
      });
    if (hasWritableWorkspace)
      degradations.push({
        rule: 'configuration protection',
        reason: has.mount
          ? 'git hooks, .git/config and files that do not exist yet can only be protected by the broker'
          : 'without the broker and mount it can be changed, also where it exists: git hooks, .git/config, editors, agents',
      });
    if (needs.isAllowListKept && active.landlockAbi > 0)
      degradations.push({
        rule: 'fs wildcards',
        reason: 'an allow rule with a wildcard needs the broker',
      });
  }
  if (!has.pid)
    degradations.push({
      rule: 'processes',
      reason: 'without a pid namespace, processes outside can be seen',
    });
  if (!has.pid && active.landlockAbi < 6)
    degradations.push({
      rule: 'signals',
      reason: 'without a pid namespace and Landlock 6, processes outside can be signalled',
    });
  if (!has.net && net.network !== 'host')
    degradations.push({
      rule: 'network',
      reason:
        "without a network namespace, the host's sockets can be listed, abstract names are the host's, and there is no loopback of the run's own",
    });
  if (!has.seccomp)
    degradations.push({
      rule: 'system calls',
      reason: 'without seccomp, sockets and system calls are not restricted',
    });
  if (!has.seccomp && !has.ipc)
    degradations.push({
      rule: 'shared memory',
      reason: 'without seccomp and an IPC namespace, that of programs outside is open',
    });
  return [...degradations, ...net.open, ...net.closed];
}
