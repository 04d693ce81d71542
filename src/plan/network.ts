import { isCatchAll, parseNetTarget } from '../policy/net-target.ts';
import { LOOPBACK } from '../policy/plain-net.ts';
import type { NetRule, Policy } from '../policy/policy.ts';
import type { ActiveLayers } from './layers.ts';
import { needsDoors } from './routed-ranges.ts';

/**
 * - private: a network namespace with a loopback of its own
 * - brokered: that of the host, where the broker alone connects, to what the policy names
 */
export type Network = 'private' | 'brokered' | 'host' | 'none';

/** Before that Landlock cannot refuse TCP. */
const TCP_ABI = 4;

export function isEverything(text: string): boolean {
  const target = parseNetTarget(text);
  return !('problem' in target) && isCatchAll(target);
}

export function planNetwork(policy: Policy, active: ActiveLayers): Network {
  if (policy.net.some(({ effect, text }) => effect === 'allow' && isEverything(text)))
    return 'host';
  if (active.has.net) return 'private';
  return canBroker(active) && policy.net.some(mayNeedDoor) && needsDoors(policy.net)
    ? 'brokered'
    : 'none';
}

/** Should the broker be passed by, the kernel refuses. What it has connected it must be able to cut. */
export function canBroker({ has, landlockAbi, canCopyDescriptors }: ActiveLayers): boolean {
  return has.broker && landlockAbi >= TCP_ABI && canCopyDescriptors;
}

export function isByAddress({ text }: NetRule): boolean {
  const target = parseNetTarget(text);
  return !('problem' in target) && target.kind === 'ip';
}

/** An entry that may need a door: neither the run's own loopback nor the host's whole network. Most policies have none. */
export function mayNeedDoor({ effect, text }: NetRule): boolean {
  return effect === 'allow' && !LOOPBACK.has(text) && !isEverything(text);
}
