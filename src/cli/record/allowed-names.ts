import { makeOutsideLookup } from '../../egress/outside-lookup.ts';
import type { Event } from '../../observe/event.ts';
import { compileNetRules } from '../../policy/net-rules.ts';
import type { Policy } from '../../policy/policy.ts';

const MAX_NAMES = 100;

/**
 * A dry run has the host's network, in which a connection is seen by its address. So that one to an allowed host is not
 * taken for another, the names that the policy allows are looked up. Those that a wildcard allows nobody can list.
 */
export async function lookUpAllowedNames(
  policy: Pick<Policy, 'net'>,
  events: readonly Event[],
): Promise<(address: string) => readonly string[]> {
  const byAddress = new Map<string, string[]>();
  const isReached = events.some((event) => event.kind === 'network' && event.op === 'connect');
  const lookup = makeOutsideLookup();
  const find = async (name: string): Promise<void> => {
    const addresses = await lookup.lookup(name).catch(() => []);
    for (const address of addresses)
      byAddress.set(address, [...(byAddress.get(address) ?? []), name]);
  };
  try {
    await Promise.all((isReached ? listNames(policy) : []).map(find));
  } finally {
    lookup.close();
  }
  return (address) => byAddress.get(address) ?? [];
}

function listNames({ net }: Pick<Policy, 'net'>): string[] {
  const targets = compileNetRules(net.filter(({ effect }) => effect === 'allow')).rules.flatMap(
    (rule) => rule.targets,
  );
  const names = targets.flatMap((one) => (one.kind === 'host' && !one.isWild ? [one.name] : []));
  return [...new Set(names)].slice(0, MAX_NAMES);
}
