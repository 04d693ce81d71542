import type { HostFacts } from '../../host/facts.ts';
import type { Limits } from '../../policy/policy.ts';
import type { LimitName, LimitStrength } from '../backend.ts';
import type { Unmet } from '../sandbox-error.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';

/** Of a cgroup with the share of processors: how long one period is, in microseconds. */
const PERIOD_US = 100_000;
/** Of assay, and counted with those of the sandbox: the forker, the holder, the supervisor of a call, and its keeper's four. */
const OWN_TASKS = 7;

type CgroupHost = Pick<HostFacts, 'cgroup' | 'uid'>;

/** Whether processes are counted by a cgroup: for root, whom the kernel counts in no other way. */
function hasPidsCgroup({ cgroup, uid }: CgroupHost): boolean {
  return uid === 0 && cgroup.pids !== undefined;
}

/** How well each limit is kept here. */
export function stateLimits(host: CgroupHost): Record<LimitName, LimitStrength> {
  const { cgroup, uid } = host;
  return {
    wallMs: 'hard',
    cpuMs: 'soft',
    cpus: cgroup.cpu === undefined ? 'none' : 'hard',
    memoryBytes: cgroup.memory === undefined ? 'soft' : 'hard',
    pids: uid !== 0 || cgroup.pids !== undefined ? 'hard' : 'soft',
    diskBytes: 'hard',
    inodes: 'hard',
    outputBytes: 'hard',
    openFiles: 'hard',
  };
}

/** One of the trees of cgroups, and which of its files say what. */
export interface CgroupTree {
  readonly directory: string;
  /** How often the kernel has ended a process for memory, and how often it has refused one. */
  readonly counters: readonly {
    readonly file: string;
    readonly key: string;
    readonly counts: 'killed' | 'refusedPids';
  }[];
}

/** Where the cgroups of sandboxes are made on this host. */
export function listCgroupTrees({ cgroup, uid }: CgroupHost): CgroupTree[] {
  const isUnified = cgroup.version === 2;
  const trees = new Map<string, CgroupTree['counters'][number][]>();
  const add = (
    directory: string | undefined,
    ...counters: CgroupTree['counters'][number][]
  ): void => {
    if (directory !== undefined)
      trees.set(directory, [...(trees.get(directory) ?? []), ...counters]);
  };
  const kills = isUnified ? 'memory.events' : 'memory.oom_control';
  add(cgroup.memory, { file: kills, key: 'oom_kill', counts: 'killed' });
  if (hasPidsCgroup({ cgroup, uid }))
    add(cgroup.pids, { file: 'pids.events', key: 'max', counts: 'refusedPids' });
  add(cgroup.cpu);
  return Array.from(trees, ([directory, counters]) => ({ directory, counters }));
}

/** What is written into the cgroups of a sandbox; everything, since another may have had them before. */
export function listCgroupSettings(
  limits: SandboxLimits,
  host: CgroupHost,
): (readonly [directory: string, file: string, value: string])[] {
  const { cgroup } = host;
  const isUnified = cgroup.version === 2;
  const none = isUnified ? 'max' : '-1';
  const settings: [string, string, string][] = [];
  const set = (directory: string | undefined, file: string, value: string): void => {
    if (directory !== undefined) settings.push([directory, file, value]);
  };
  const memory = limits.memoryBytes === undefined ? none : String(limits.memoryBytes);
  set(cgroup.memory, isUnified ? 'memory.max' : 'memory.limit_in_bytes', memory);
  if (isUnified) set(cgroup.memory, 'memory.swap.max', '0');
  if (hasPidsCgroup(host)) {
    const tasks = OWN_TASKS + (limits.pids ?? 0);
    set(cgroup.pids, 'pids.max', limits.pids === undefined ? 'max' : String(tasks));
  }
  const quota =
    limits.cpus === undefined ? none : String(Math.max(1000, Math.round(limits.cpus * PERIOD_US)));
  if (isUnified) set(cgroup.cpu, 'cpu.max', `${quota} ${PERIOD_US}`);
  else set(cgroup.cpu, 'cpu.cfs_quota_us', quota);
  return settings;
}

/** Whether a limit of a call is less than the sandbox's, whose cgroup then does not keep it. */
function isOwn(name: LimitName, call: SandboxLimits, sandbox: SandboxLimits): boolean {
  return call[name] !== undefined && call[name] !== sandbox[name];
}

/** What the supervisor of one call keeps, and no cgroup or file system does. */
export function toCallLimits(
  call: SandboxLimits,
  sandbox: SandboxLimits,
  options: { readonly host: CgroupHost; readonly spec: SandboxSpec },
): Limits {
  const { host, spec } = options;
  const isMemoryOurs = host.cgroup.memory === undefined || isOwn('memoryBytes', call, sandbox);
  const arePidsOurs = !hasPidsCgroup(host) || isOwn('pids', call, sandbox);
  const isHost = spec.workspace?.mode === 'rw';
  const limits: Limits = {
    timeoutMs: call.wallMs,
    cpuMs: call.cpuMs,
    memoryBytes: isMemoryOurs ? call.memoryBytes : undefined,
    pids: arePidsOurs ? call.pids : undefined,
    diskBytes: isHost ? call.diskBytes : undefined,
    files: isHost || isOwn('inodes', call, sandbox) ? call.inodes : undefined,
    openFiles: call.openFiles,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** What a call asks for and cannot have: the size of a file system is that of the sandbox. */
export function findUnmetOfCall(
  call: SandboxLimits,
  sandbox: SandboxLimits,
  spec: SandboxSpec,
): Unmet[] {
  const only = 'is kept for the sandbox as a whole, and not for one call';
  const names: LimitName[] = spec.workspace?.mode === 'rw' ? ['cpus'] : ['cpus', 'diskBytes'];
  return names
    .filter((name) => isOwn(name, call, sandbox))
    .map((name) => ({ item: `limits.${name}`, reason: `it ${only}` }));
}
