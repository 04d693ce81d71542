import type { ConnectionFact } from '../egress/egress.ts';
import { toNetRules } from '../policy/net-entries.ts';
import { parseNetTarget } from '../policy/net-target.ts';
import type { NetRule } from '../policy/policy.ts';
import { SandboxError } from './sandbox-error.ts';
import type { Denial } from './sandbox.ts';
import type { NetworkSpec } from './spec.ts';

/** The rules of a spec; throws `policy_invalid` with every entry that is none. */
export function toRules(network: Exclude<NetworkSpec, 'none'>): NetRule[] {
  const { allow, deny = [] } = network;
  const problems = [...allow, ...deny].flatMap((text) => {
    const target = parseNetTarget(text);
    return 'problem' in target ? [`${JSON.stringify(text)}: ${target.problem}`] : [];
  });
  if (problems.length > 0)
    throw new SandboxError(
      'policy_invalid',
      `Cannot read the network rules: ${problems.join('; ')}`,
    );
  return toNetRules({ name: 'network', data: { net: { allow, deny } } });
}

/** A connection that was refused, as a call is told of it. */
export function toDenial({ destination, verdict }: ConnectionFact): Denial {
  const { name, address, port } = destination;
  return {
    action: 'net.connect',
    target: `${name ?? address}:${port}`,
    rule: verdict.rule ?? undefined,
    hint: verdict.hint ?? verdict.reason,
  };
}
