import type { HostFacts } from '../../host/facts.ts';
import type { CgroupPlan } from '../../plan/limits.ts';
import type { Limits } from '../../policy/policy.ts';
import type { LimitName, LimitStrength } from '../backend.ts';
import type { Unmet } from '../sandbox-error.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';

/** Of a cgroup with the share of processors: how long one period is, in microseconds. */
const PERIOD_US = 100_000;
/** Processes of assay that are counted with those of the sandbox: the holder, and for a call a supervisor and its keeper. */
const HOLDER_TASKS = 1;
const CALL_TASKS = 4;

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

/** The cgroups of a sandbox, which all its calls share. */
export function planSandboxCgroups(limits: SandboxLimits, host: CgroupHost): CgroupPlan[] {
  const { cgroup } = host;
  const isUnified = cgroup.version === 2;
  const plans = new Map<string, [string, string][]>();
  const set = (directory: string | undefined, file: string, value: string): void => {
    if (directory !== undefined)
      plans.set(directory, [...(plans.get(directory) ?? []), [file, value]]);
  };
  if (limits.memoryBytes !== undefined) {
    const file = isUnified ? 'memory.max' : 'memory.limit_in_bytes';
    set(cgroup.memory, file, String(limits.memoryBytes));
    if (isUnified) set(cgroup.memory, 'memory.swap.max', '0');
  }
  if (limits.pids !== undefined && hasPidsCgroup(host))
    set(cgroup.pids, 'pids.max', String(limits.pids + HOLDER_TASKS + CALL_TASKS));
  if (limits.cpus !== undefined) {
    const quota = String(Math.max(1000, Math.round(limits.cpus * PERIOD_US)));
    if (isUnified) set(cgroup.cpu, 'cpu.max', `${quota} ${PERIOD_US}`);
    else set(cgroup.cpu, 'cpu.cfs_quota_us', quota);
  }
  return Array.from(plans, ([directory, settings]) => ({ directory, settings }));
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
