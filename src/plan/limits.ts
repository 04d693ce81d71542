import type { CgroupFacts, HostFacts } from '../host/facts.ts';
import type { Limits } from '../policy/policy.ts';

/** Numbers of <asm-generic/resource.h>, the same on x86-64 and arm64. */
const RLIMIT = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7 } as const;
/** Threads of the keeper that count against the limit on processes. */
const KEEPER_TASKS = 8;
/** The kernel keeps this many low numbers back, so the count is this much less exact than a cgroup's, which takes longer to join. */
const RESERVED_PIDS = 300;
const GENEROUS_PIDS = 1000;
/** What an engine takes hold of and does not use counts for the kernel: 700 MiB in Node 24, at its start. */
const UNUSED_BYTES = 2 ** 30;

export interface Rlimit {
  readonly resource: number;
  readonly soft: number;
  readonly hard: number;
}

export interface LimitReport {
  readonly limit: 'timeout' | 'cpu' | 'memory' | 'pids' | 'disk' | 'files' | 'open-files';
  readonly value: number;
  /** hard: the kernel or the broker refuses what goes beyond. soft: the run is ended once it has gone beyond. */
  readonly strength: 'hard' | 'soft' | 'absent';
  readonly how: string;
}

export interface CgroupPlan {
  readonly directory: string;
  readonly settings: readonly (readonly [file: string, value: string])[];
  /** Controllers that the directory does not give on yet. */
  readonly claimed?: readonly string[] | undefined;
}

export interface LimitPlan {
  readonly rlimits: readonly Rlimit[];
  readonly cgroups: readonly CgroupPlan[];
  readonly softLimits: { cpuMs?: number; memoryBytes?: number; diskBytes?: number; pids?: number };
  readonly reports: readonly LimitReport[];
  /** The highest process number inside; 0 leaves the kernel's own. */
  readonly pidMax: number;
}

export interface LimitOptions {
  readonly limits: Limits;
  readonly host: Pick<HostFacts, 'uid' | 'hasPidMax'> & { readonly cgroup: CgroupFacts };
  readonly hasUserNamespace: boolean;
  readonly hasBroker: boolean;
  readonly hasMountNamespace: boolean;
  readonly hasPidNamespace: boolean;
  readonly canUseCgroup: boolean;
  readonly canUseRlimits: boolean;
}

/** Decides for each limit which mechanism keeps it on this host, and how well. */
export function planLimits(options: LimitOptions): LimitPlan {
  const { limits, canUseRlimits } = options;
  const cgroup: CgroupFacts = options.canUseCgroup ? options.host.cgroup : { version: 0 };
  const rlimits: Rlimit[] = [];
  const cgroups = new Map<string, [string, string][]>();
  const softLimits: LimitPlan['softLimits'] = {};
  const reports: LimitReport[] = [];
  let pidMax = 0;
  const cap = (resource: number, value: number): void => {
    if (canUseRlimits) rlimits.push({ resource, soft: value, hard: value });
  };
  const control = (directory: string, file: string, value: string): void => {
    cgroups.set(directory, [...(cgroups.get(directory) ?? []), [file, value]]);
  };
  cap(RLIMIT.core, 0);
  if (limits.timeoutMs !== undefined)
    reports.push({
      limit: 'timeout',
      value: limits.timeoutMs,
      strength: 'hard',
      how: 'the supervisor ends the tree',
    });
  if (limits.cpuMs !== undefined) {
    const seconds = Math.ceil(limits.cpuMs / 1000);
    if (canUseRlimits) rlimits.push({ resource: RLIMIT.cpu, soft: seconds + 1, hard: seconds + 2 });
    softLimits.cpuMs = limits.cpuMs;
    reports.push({
      limit: 'cpu',
      value: limits.cpuMs,
      strength: 'soft',
      how: 'the tree is measured ten times a second; each process is cut by the kernel',
    });
  }
  if (limits.memoryBytes !== undefined) {
    if (cgroup.memory !== undefined) {
      control(
        cgroup.memory,
        cgroup.version === 2 ? 'memory.max' : 'memory.limit_in_bytes',
        String(limits.memoryBytes),
      );
      if (cgroup.version === 2) control(cgroup.memory, 'memory.swap.max', '0');
      reports.push({ limit: 'memory', value: limits.memoryBytes, strength: 'hard', how: 'cgroup' });
    } else {
      cap(RLIMIT.data, limits.memoryBytes + UNUSED_BYTES);
      softLimits.memoryBytes = limits.memoryBytes;
      reports.push({
        limit: 'memory',
        value: limits.memoryBytes,
        strength: 'soft',
        how: 'the tree is measured ten times a second; each process is capped by the kernel',
      });
    }
  }
  if (limits.pids !== undefined) {
    // The kernel does not count the processes of root; everyone else is counted per user namespace.
    if (options.hasUserNamespace && options.host.uid !== 0 && canUseRlimits) {
      cap(RLIMIT.processes, limits.pids + KEEPER_TASKS);
      reports.push({
        limit: 'pids',
        value: limits.pids,
        strength: 'hard',
        how: 'counted in the user namespace',
      });
    } else if (limits.pids >= GENEROUS_PIDS && options.hasPidNamespace && options.host.hasPidMax) {
      pidMax = limits.pids + RESERVED_PIDS;
      reports.push({
        limit: 'pids',
        value: limits.pids,
        strength: 'hard',
        how: 'process numbers of the pid namespace',
      });
    } else if (cgroup.pids !== undefined) {
      control(cgroup.pids, 'pids.max', String(limits.pids + KEEPER_TASKS));
      reports.push({ limit: 'pids', value: limits.pids, strength: 'hard', how: 'cgroup' });
    } else {
      softLimits.pids = limits.pids;
      reports.push({
        limit: 'pids',
        value: limits.pids,
        strength: 'soft',
        how: 'the tree is measured ten times a second',
      });
    }
  }
  if (limits.diskBytes !== undefined) {
    cap(RLIMIT.fileSize, limits.diskBytes);
    softLimits.diskBytes = limits.diskBytes;
    const tmp = options.hasMountNamespace ? 'hard in /tmp and for each file' : 'hard for each file';
    reports.push({
      limit: 'disk',
      value: limits.diskBytes,
      strength: 'soft',
      how: `${tmp}; the total is measured ten times a second`,
    });
  }
  if (limits.files !== undefined)
    reports.push(
      options.hasBroker
        ? {
            limit: 'files',
            value: limits.files,
            strength: 'hard',
            how: 'the broker creates every file',
          }
        : { limit: 'files', value: limits.files, strength: 'absent', how: 'needs the broker' },
    );
  if (limits.openFiles !== undefined) {
    cap(RLIMIT.openFiles, limits.openFiles);
    reports.push({
      limit: 'open-files',
      value: limits.openFiles,
      strength: canUseRlimits ? 'hard' : 'absent',
      how: 'counted for each process',
    });
  }
  return {
    rlimits,
    cgroups: Array.from(cgroups, ([directory, settings]) => ({
      directory,
      settings,
      claimed: cgroup.claimed?.controllers,
    })),
    softLimits,
    reports,
    pidMax,
  };
}
