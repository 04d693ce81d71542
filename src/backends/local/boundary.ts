import type { HostFacts } from '../../host/facts.ts';
import { type CallPlan, encodeBoundary, encodeCall } from '../../launch/encode-plan.ts';
import { loadFilter } from '../../launch/load-filter.ts';
import { choosePlanNet, type PlanNet } from '../../plan/net-plan.ts';
import { LAYERS } from '../../plan/plan.ts';
import type { LayerChoice } from '../../plan/layers.ts';
import { makePlan, type Plan } from '../../plan/make-plan.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import { type SandboxLimits, type SandboxSpec, WORKSPACE } from '../spec.ts';
import { toCallLimits } from './limits.ts';
import { toNetRules, toPolicy } from './policy.ts';
import { PRIVATE_TREE } from './private-tree.ts';

/** A program that is told to end has this long to do so. */
const GRACE_MS = 250;
/** RLIMIT_DATA: a process is refused more only far beyond the limit, so that whoever looks sees that it was passed. */
const DATA = 2;
const DATA_FACTOR = 2;
/** RLIMIT_NPROC, and tasks of the keeper that always count against it. */
const PROCESSES = 6;
const PLANNED_TASKS = 8;
const KEEPER_TASKS = 3;

export const VARIABLES: Variables = {
  cwd: WORKSPACE,
  home: '/tmp',
  tmpdir: '/tmp',
  user: 'sandbox',
};

/** The cgroups are those of the sandbox, which its holder is in. */
const CHOICE: LayerChoice = {
  left: new Set(LAYERS.filter((layer) => layer !== 'cgroup')),
  landlockAbi: null,
};

export interface Call {
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly limits: SandboxLimits;
  /** Its clock is started later. */
  readonly isIdle?: boolean | undefined;
}

export interface PlannedCall {
  readonly bytes: Uint8Array;
  readonly plan: Plan;
  readonly policy: Policy;
}

/** The boundary of a sandbox: planned once, and the same for all its calls but for limits that one of them asks for. */
export class Boundary {
  readonly #spec: SandboxSpec;
  readonly #limits: SandboxLimits;
  readonly #host: HostFacts;
  readonly #planNet: PlanNet;
  readonly #own: { readonly plan: Plan; readonly policy: Policy };
  #filter: string | null = null;
  #bytes: Uint8Array = new Uint8Array(0);

  private constructor(
    spec: SandboxSpec,
    limits: SandboxLimits,
    { host, planNet }: { readonly host: HostFacts; readonly planNet: PlanNet },
  ) {
    this.#spec = spec;
    this.#limits = limits;
    this.#host = host;
    this.#planNet = planNet;
    this.#own = this.#plan(limits);
  }

  static async make(spec: SandboxSpec, limits: SandboxLimits, host: HostFacts): Promise<Boundary> {
    const planNet = await choosePlanNet(toNetRules(spec.network));
    const boundary = new Boundary(spec, limits, { host, planNet });
    const { launch } = boundary.#own.plan;
    boundary.#filter = await loadFilter(launch.filter);
    boundary.#bytes = encodeBoundary({ ...launch, banner: '', cgroups: [] }, boundary.#filter);
    return boundary;
  }

  get plan(): Plan {
    return this.#own.plan;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  planCall({ argv, env, cwd, limits, isIdle = false }: Call): PlannedCall {
    const isUsual = limits === this.#limits;
    const { plan, policy } = isUsual ? this.#own : this.#plan(limits);
    const { launch } = plan;
    const call: CallPlan = {
      ...launch,
      argv,
      env: this.#addDoors(env),
      cwd,
      banner: '',
      cgroups: [],
      ...(isIdle && { timeoutMs: 0 }),
    };
    const hasOwnBoundary = launch.maxFiles !== this.#own.plan.launch.maxFiles;
    const rest = encodeCall(call);
    const bytes = hasOwnBoundary
      ? Buffer.concat([encodeBoundary({ ...launch, ...call }, this.#filter), rest])
      : rest;
    return { bytes, plan, policy };
  }

  /** Planned without an environment, so that what there is was added for the doors. */
  #addDoors(env: Call['env']): Call['env'] {
    const own = new Set(env.map(([name]) => name));
    return [...this.#own.plan.launch.env.filter(([name]) => !own.has(name)), ...env];
  }

  #plan(limits: SandboxLimits): { readonly plan: Plan; readonly policy: Policy } {
    const host = this.#host;
    const spec = this.#spec;
    const policy = toPolicy(spec, toCallLimits(limits, this.#limits, { host, spec }));
    const planned = makePlan({
      policy,
      variables: VARIABLES,
      host,
      tree: PRIVATE_TREE,
      choice: CHOICE,
      planNet: this.#planNet,
      argv: [],
      env: [],
      parentPid: 0,
      graceMs: GRACE_MS,
      recording: 'all',
    });
    return { plan: toPrivateRoot(planned, spec), policy };
  }
}

/** The tree is already what the program may see: all that is left is to show its own processes. */
function toPrivateRoot(plan: Plan, spec: SandboxSpec): Plan {
  const { launch } = plan;
  const rlimits = launch.rlimits.map((limit) => {
    if (limit.resource === DATA)
      return { ...limit, soft: limit.soft * DATA_FACTOR, hard: limit.hard * DATA_FACTOR };
    if (limit.resource !== PROCESSES) return limit;
    const less = PLANNED_TASKS - KEEPER_TASKS;
    return { ...limit, soft: limit.soft - less, hard: limit.hard - less };
  });
  return {
    ...plan,
    launch: {
      ...launch,
      rlimits,
      mounts: launch.mounts.filter(({ kind }) => kind === 'proc'),
      scopedDir: '',
      flags: {
        ...launch.flags,
        isRootReadOnly: false,
        isGitGuarded: spec.workspace?.mode === 'rw',
      },
    },
  };
}
