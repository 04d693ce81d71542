import type { NetRule, Policy } from '../policy/policy.ts';
import { describeRule } from './degradations.ts';
import {
  addProxyVariables,
  type DoorPlan,
  makeResolverRules,
  planDoors,
  planResolver,
} from './doors.ts';
import type { ActiveLayers } from './layers.ts';
import type { NetPlan, NetPlanInput } from './net-plan.ts';
import { isByAddress, isEverything, mayNeedDoor, type Network, planNetwork } from './network.ts';
import type { Degradation } from './plan.ts';
import { addTrustVariables, makeTrustRules, planTrust, planTrustFile } from './trust.ts';

/** For rules of every kind: what they name is reached through doors, or is the host's network as a whole. */
export function planNamedNet(input: NetPlanInput): NetPlan {
  const { policy, active, tree, host, trustedPem, tmpdir } = input;
  const { ipv6, canBeLazy } = host;
  const network = planNetwork(policy, active);
  const doors = planDoors(policy, { active, network, tree, ipv6, canBeLazy });
  const text = doors ? trustedPem : undefined;
  const trust = planTrust({ text, tree, hasMount: active.has.mount, tmpdir });
  const { set } = policy.env;
  return {
    network,
    doors,
    trust,
    rules: doors ? [...makeResolverRules(tree), ...makeTrustRules(trust)] : [],
    files: doors ? [...planResolver(tree, network), ...planTrustFile(trust)] : [],
    addVariables: (env) =>
      doors ? addTrustVariables(addProxyVariables(env, set, network), trust, set) : env,
    open: findOpenDenies(policy, network),
    closed: findDoorDegradations(policy, network, doors, active),
  };
}

function findOpenDenies({ net }: Policy, network: Network): Degradation[] {
  if (network !== 'host') return [];
  return net
    .filter(({ effect, text }) => effect === 'deny' && !isEverything(text))
    .map((rule) => ({
      rule: describeRule(rule),
      reason: 'the host network is allowed as a whole',
    }));
}

/** Names and addresses that the policy grants, and that cannot be reached, or not by every program. */
function findDoorDegradations(
  policy: Policy,
  network: Network,
  doors: DoorPlan | null,
  { canCopyDescriptors }: ActiveLayers,
): Degradation[] {
  if (network === 'host' || doors?.status === 'enforced') return [];
  const lack = canCopyDescriptors ? '' : '; in a container: --cap-add SYS_PTRACE';
  const reason = doors
    ? doors.reason
    : `reaching hosts needs net, or the broker and Landlock 4${lack}`;
  // The broker knows addresses as well as any door does; it is names that not every program finds.
  const isMissed = (rule: NetRule): boolean =>
    mayNeedDoor(rule) && (network !== 'brokered' || !isByAddress(rule));
  return policy.net.filter(isMissed).map((rule) => ({ rule: describeRule(rule), reason }));
}
