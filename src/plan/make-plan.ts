import type { Arch, HostFacts, Namespace } from '../host/facts.ts';
import { decide } from '../policy/decide.ts';
import { isLiteral, unescapeLiteral } from '../policy/glob.ts';
import type { InjectRule, Policy, Variables } from '../policy/policy.ts';
import { planBrokerRules } from './broker.ts';
import { describeRule, findDegradations } from './degradations.ts';
import type { DoorPlan } from './doors.ts';
import { type FileTree, isAtOrBelow } from './file-tree.ts';
import { collectGrants, groupSystemRules, isAskedFor, READ, WRITE } from './grants.ts';
import { formatHostPorts } from './host-ports.ts';
import { planLandlock } from './landlock.ts';
import { type ActiveLayers, chooseLayers, type LayerChoice } from './layers.ts';
import { type LimitPlan, planLimits } from './limits.ts';
import { findNeeds, type Needs } from './needs.ts';
import type { PlanNet } from './net-plan.ts';
import type { Network } from './network.ts';
import type { Degradation, LaunchPlan, LayerReport, Recording } from './plan.ts';
import type { FilterRequest } from './seccomp/filter-request.ts';
import type { TrustPlan } from './trust.ts';
import { planView } from './view.ts';

export interface PlanInput {
  readonly policy: Policy;
  readonly variables: Variables;
  readonly host: HostFacts;
  readonly tree: FileTree;
  readonly choice: LayerChoice;
  /** The one that `choosePlanNet()` names for the rules of the policy. */
  readonly planNet: PlanNet;
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly parentPid: number;
  readonly graceMs: number;
  readonly recording?: Recording | undefined;
  /** Certificates that the program is to trust, where TLS is opened. */
  readonly trustedPem?: string | undefined;
  /** Watch, and refuse nothing. */
  readonly isObserveOnly?: boolean | undefined;
}

export interface Plan {
  readonly launch: Omit<LaunchPlan, 'banner' | 'cgroups'>;
  readonly layers: readonly LayerReport[];
  readonly degradations: readonly Degradation[];
  /** Grants that cannot be given here; nothing is less protected for that. */
  readonly notes: readonly string[];
  readonly limits: LimitPlan;
  readonly network: Network;
  /** Null when the policy names nothing to be reached, or there is no namespace to reach it from. */
  readonly doors: DoorPlan | null;
  /** Null unless TLS is opened. */
  readonly trust: TrustPlan | null;
}

/**
 * Programs put their process number into names. A number of six digits is hardly ever anything else; where the highest
 * number keeps the limit on processes, the lowest that the kernel gives a second time has to do.
 */
const HIGH_PID = 100_000;
const LOW_PID = 300;

const SHARED_DEVICES = ['/dev/shm', '/dev/pts'];

function planFilter(
  arch: Arch,
  input: { active: ActiveLayers; needs: Needs; network: Network; plan: PlanInput },
): FilterRequest {
  const { active, needs, network } = input;
  const { recording = 'none', isObserveOnly = false } = input.plan;
  const isRecorded = recording !== 'none';
  const { has } = active;
  const isOutsideReadOnly = has.mount;
  return {
    arch,
    notify: has.broker
      ? {
          opens: needs.opens,
          mutations: true,
          attributes: true,
          connect: true,
          ...(network === 'brokered' && { listen: true }),
          exec: isRecorded || needs.conflicts.some(({ deny }) => deny.rights.includes('exec')),
          start: isRecorded,
          fork: !has.pid,
          umask: true,
        }
      : null,
    sockets: {
      inet: network === 'none' ? 'none' : network === 'brokered' ? 'no-bypass' : 'all',
      unix: has.broker ? 'connected' : 'none',
      netlink: true,
    },
    isAttributeChangeRefused: !has.broker && !isOutsideReadOnly,
    isLandlockRefused: has.broker,
    isIpcRefused: !has.ipc,
    isObserveOnly,
  };
}

/** Existing places with a fixed name that the mount namespace can cover or pin, in addition to the broker. */
function findPinned(
  needs: Needs,
  policy: Policy,
  input: PlanInput,
  hasBroker: boolean,
): { masked: string[]; readOnly: string[] } {
  const { tree, variables } = input;
  const masked = new Set<string>();
  const readOnly = new Set<string>();
  for (const { deny } of needs.conflicts) {
    if (!isLiteral(deny.pattern)) continue;
    const path = tree.realpath(unescapeLiteral(deny.pattern));
    if (path === null || isAtOrBelow(path, variables.tmpdir) || path === '/') continue;
    if (deny.effect === 'deny') masked.add(path);
    else readOnly.add(path);
  }
  if (!hasBroker)
    for (const { effect, pattern } of policy.fs) {
      const name = pattern.slice('/**'.length);
      if (effect !== 'config' || !pattern.startsWith('/**/') || !isLiteral(name)) continue;
      const path = tree.realpath(`${variables.cwd}${unescapeLiteral(name)}`);
      if (path !== null && isAtOrBelow(path, variables.cwd)) readOnly.add(path);
    }
  return { masked: [...masked], readOnly: [...readOnly] };
}

/**
 * git fails altogether on a configuration that is there and cannot be read. Where no mount hides the home, git is told to
 * look elsewhere.
 */
function withoutGitConfig({ policy, variables, env }: PlanInput): PlanInput['env'] {
  const { outcome } = decide(policy, { op: 'read', path: `${variables.home}/.gitconfig` });
  const isSet = env.some(([name]) => name === 'GIT_CONFIG_GLOBAL');
  return outcome === 'allow' || isSet ? env : [...env, ['GIT_CONFIG_GLOBAL', '/dev/null']];
}

function isInside(path: string, dirs: readonly string[]): boolean {
  return dirs.some((dir) => path !== dir && isAtOrBelow(path, dir));
}

function describeUnused({ header, text, origin }: InjectRule): string {
  return `${origin.source} net.inject: ${header} for ${text} is not added: the network has no door`;
}

/** The whole of a run, decided: pure, and the same for the same input. */
export function makePlan(input: PlanInput): Plan {
  const { variables, host, tree } = input;
  const active = chooseLayers(host, input.choice);
  const net = input.planNet({
    policy: input.policy,
    active,
    tree,
    host,
    trustedPem: input.trustedPem,
    tmpdir: variables.tmpdir,
  });
  const { network, doors, trust } = net;
  const policy =
    net.rules.length > 0
      ? { ...input.policy, fs: [...input.policy.fs, ...net.rules] }
      : input.policy;
  const { grants, absent, awaited, astray } = collectGrants(policy.fs, tree, active.has.broker);
  const system = groupSystemRules(policy.fs);
  // Without a mount namespace these are the host's own, shared with every other program of this user.
  if (!active.has.mount)
    for (const { paths } of system)
      for (const path of SHARED_DEVICES)
        if (paths.includes(path)) paths.splice(paths.indexOf(path), 1);
  // A socket that may be connected to has to be seen; the kernel's file rights do not matter for it.
  const sockets = collectGrants(policy.unix, tree, false).grants.map((grant) => ({
    ...grant,
    rights: READ,
  }));
  const { recording = 'none', isObserveOnly = false } = input;
  const needs = findNeeds({ policy, tree, grants, active, recording });
  const isRecorded = recording !== 'none' && active.has.broker;
  const { has } = active;
  const hasWritableWorkspace = grants.some(
    ({ path, rights }) =>
      rights & WRITE && !isAtOrBelow(path, '/dev') && !isAtOrBelow(path, variables.tmpdir),
  );
  const namespaces = (['user', 'mount', 'pid', 'ipc'] as Namespace[]).filter((name) => has[name]);
  if (network === 'private') namespaces.push('net');
  const limits = planLimits({
    limits: policy.limits,
    host,
    hasUserNamespace: has.user,
    hasBroker: has.broker,
    hasMountNamespace: has.mount,
    hasPidNamespace: has.pid,
    canUseCgroup: has.cgroup,
    canUseRlimits: has.rlimits,
  });
  const firstPid = isRecorded ? (limits.pidMax > 0 ? LOW_PID : HIGH_PID) : 0;
  const tmpPaths = has.mount ? ['/tmp', '/var/tmp'] : [variables.tmpdir];
  const tmpLimit =
    policy.limits.diskBytes === undefined
      ? null
      : { sizeBytes: policy.limits.diskBytes, inodes: policy.limits.files ?? 0 };
  const tmpGrants = tmpPaths.map((path) => ({ path, rights: 7 }));
  const mounts = has.mount
    ? planView({
        grants: [...grants, ...sockets],
        tree,
        home: variables.home,
        cwd: variables.cwd,
        tmpdir: variables.tmpdir,
        tmpLimit,
        shmBytes: policy.limits.memoryBytes,
        ...findPinned(needs, policy, input, has.broker),
        proc: has.pid ? { pidMax: limits.pidMax, firstPid } : null,
        files: net.files,
      })
    : [];
  const env = has.mount ? input.env : withoutGitConfig(input);
  const filter = has.seccomp
    ? planFilter(host.arch, { active, needs, network, plan: input })
    : null;
  // What hides a directory is ours and empty, so it may be listed.
  const hidingGrants = mounts.flatMap((op) =>
    op.kind === 'hide' ? [{ path: op.path, rights: READ }] : [],
  );
  return {
    launch: {
      flags: {
        isCapsDropped: !isObserveOnly,
        isNotified: has.broker,
        isGated: !has.pid,
        isRootReadOnly: has.mount,
        isReadProbed: has.broker && needs.opens === 'probe',
        isGitGuarded: hasWritableWorkspace && !isObserveOnly,
        isAbiExact: active.isAbiExact,
        isAllowListKept: needs.isAllowListKept && !isObserveOnly,
        isRecorded,
        isObserveOnly,
        isReadJudged: needs.isReadJudged && !isObserveOnly,
        hasDoors: doors !== null && network === 'private',
        isBrokered: network === 'brokered',
        isTransparent: doors?.isTransparent ?? false,
        hasLazyDoors: doors?.isLazy ?? false,
        isOffNetwork: network !== 'host' && !isObserveOnly,
        hasNoCopies: !active.canCopyDescriptors,
      },
      namespaces,
      uid: host.uid,
      gid: host.gid,
      parentPid: input.parentPid,
      argv: input.argv,
      env: net.addVariables(env),
      cwd: variables.cwd,
      scopedDir: variables.tmpdir,
      privateTmp: tmpPaths,
      sharedInTmp: mounts.flatMap((op) =>
        op.kind === 'bind' && isInside(op.path, tmpPaths) ? [op.path] : [],
      ),
      mounts,
      landlock: active.landlockAbi
        ? planLandlock({
            abi: active.landlockAbi,
            grants: [...grants, ...tmpGrants, ...hidingGrants],
            system,
            // A program finds the name of its terminal by looking through /dev; what others share there is not seen.
            listed: has.mount ? ['/dev'] : [],
            isRestReadOnly: has.mount,
            isNetworkRefused: network === 'none' || network === 'brokered',
            isUnixRefused: policy.unix.length === 0,
          })
        : null,
      filter,
      brokerRules: has.broker && !isObserveOnly ? planBrokerRules({ policy, tree, system }) : [],
      doorRanges: doors ? [...doors.ranges, ...doors.hostPorts.map(formatHostPorts)] : [],
      maxFiles: isObserveOnly ? 0 : (policy.limits.files ?? 0),
      firstPid: has.pid ? firstPid : 0,
      rlimits: limits.rlimits,
      softLimits: limits.softLimits,
      timeoutMs: policy.limits.timeoutMs ?? 0,
      graceMs: input.graceMs,
    },
    layers: active.reports,
    degradations: [
      ...findDegradations(net, needs, active, hasWritableWorkspace),
      ...limits.reports
        .filter(({ strength }) => strength === 'absent')
        .map(({ limit, how }) => ({ rule: `limit on ${limit}`, reason: how })),
    ],
    notes: [
      ...(doors ? [] : policy.inject.map(describeUnused)),
      ...astray.map(
        (rule) =>
          `${describeRule(rule)} is not granted: a link in a writable place leads it elsewhere`,
      ),
      ...(filter?.isAttributeChangeRefused
        ? ['File permissions, owners and times cannot be changed without the broker and mount']
        : []),
      ...absent.filter(isAskedFor).map((rule) => `${describeRule(rule)} names nothing that exists`),
      ...awaited.map(({ rule }) => `${describeRule(rule)} does not exist yet, and may be made`),
    ],
    limits,
    network,
    doors,
    trust,
  };
}
