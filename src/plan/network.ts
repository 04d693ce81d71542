import { isCatchAll, parseNetTarget } from '../policy/net-target.ts';
import type { Policy } from '../policy/policy.ts';
import type { ActiveLayers } from './layers.ts';

/** private: a network namespace with a loopback of its own. */
export type Network = 'private' | 'host' | 'none';

export function isEverything(text: string): boolean {
  const target = parseNetTarget(text);
  return !('problem' in target) && isCatchAll(target);
}

export const LOOPBACK: ReadonlySet<string> = new Set([
  '127.0.0.1',
  'localhost',
  '::1',
  '127.0.0.0/8',
  '[::1]',
]);

export function planNetwork(policy: Policy, active: ActiveLayers): Network {
  if (policy.net.some(({ effect, text }) => effect === 'allow' && isEverything(text)))
    return 'host';
  return active.has.net ? 'private' : 'none';
}
