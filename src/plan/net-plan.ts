import type { HostFacts } from '../host/facts.ts';
import { isPlainNet } from '../policy/plain-net.ts';
import type { FsRule, NetRule, Policy } from '../policy/policy.ts';
import type { DoorPlan } from './doors.ts';
import type { FileTree } from './file-tree.ts';
import type { ActiveLayers } from './layers.ts';
import type { Network } from './network.ts';
import type { Degradation, MountOp } from './plan.ts';
import type { TrustPlan } from './trust.ts';

type Environment = readonly (readonly [string, string])[];

export interface NetPlanInput {
  readonly policy: Policy;
  readonly active: ActiveLayers;
  readonly tree: FileTree;
  readonly host: Pick<HostFacts, 'ipv6' | 'canBeLazy'>;
  /** Certificates that the program is to trust, where TLS is opened. */
  readonly trustedPem: string | undefined;
  readonly tmpdir: string;
}

/** What a run can reach, and what that takes. */
export interface NetPlan {
  readonly network: Network;
  /** Null when the policy names nothing to be reached, or there is no namespace to reach it from. */
  readonly doors: DoorPlan | null;
  /** Null unless TLS is opened. */
  readonly trust: TrustPlan | null;
  /** Where the files below really are. */
  readonly rules: readonly FsRule[];
  /** Files of ours, in place of the host's. */
  readonly files: readonly (MountOp & { readonly kind: 'file' })[];
  addVariables(env: Environment): Environment;
  /** Refusals that nothing enforces. */
  readonly open: readonly Degradation[];
  /** Grants that not every program can use, or none. */
  readonly closed: readonly Degradation[];
}

export type PlanNet = (input: NetPlanInput) => NetPlan;

/** The planner for these rules. Most runs have the plainest there are, and load nothing for them. */
export async function choosePlanNet(net: readonly NetRule[]): Promise<PlanNet> {
  if (isPlainNet(net)) return planPlainNet;
  const { planNamedNet } = await import('./named-net.ts');
  return planNamedNet;
}

/** A network of the run's own or none, for rules that name nothing else. */
export function planPlainNet({ active }: Pick<NetPlanInput, 'active'>): NetPlan {
  return {
    network: active.has.net ? 'private' : 'none',
    doors: null,
    trust: null,
    rules: [],
    files: [],
    addVariables: (env) => env,
    open: [],
    closed: [],
  };
}
