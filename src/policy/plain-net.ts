import type { NetRule } from './policy.ts';

/** Entries that mean the loopback inside the sandbox, which every run has. */
export const LOOPBACK: ReadonlySet<string> = new Set([
  '127.0.0.1',
  'localhost',
  '::1',
  '127.0.0.0/8',
  '[::1]',
]);

/** Entries of a deny list that only state the default. */
const EVERYTHING: ReadonlySet<string> = new Set(['0.0.0.0/0', '::/0', '*']);

/**
 * Rules that neither name anything outside nor refuse anything that would be reached without them. They are known by
 * their text: the grammar of hosts and addresses takes longer to load than all else that such a run needs.
 */
export function isPlainNet(net: readonly Pick<NetRule, 'effect' | 'text'>[]): boolean {
  return net.every(({ effect, text }) => (effect === 'allow' ? LOOPBACK : EVERYTHING).has(text));
}
