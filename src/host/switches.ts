import { existsSync, readFileSync, statSync } from 'node:fs';

/** Settings of this machine that explain why a probe failed. They are never taken for the answer itself. */
export interface HostSwitches {
  /** Those of `user.max_*_namespaces` that are 0. */
  readonly closedCeilings: readonly string[];
  /** Debian's `kernel.unprivileged_userns_clone` is 0. */
  readonly isUsernsCloneOff: boolean;
  /** `kernel.apparmor_restrict_unprivileged_userns` is 1, as on Ubuntu since 23.10. */
  readonly isApparmorRestricting: boolean;
  /** `kernel.yama.ptrace_scope`; 0 where there is none. From 2 on nobody reads the memory of his own children. */
  readonly ptraceScope: number;
  /** Of this process, where AppArmor confines it. */
  readonly apparmorProfile: string | null;
  /** What is mounted over parts of /proc: then no other can be mounted in a namespace. */
  readonly procCovers: readonly string[];
  /** This process is under a seccomp filter already: a container, or another assay. */
  readonly isFiltered: boolean;
  readonly isContainer: boolean;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null; // not on this kernel, or not for us: either way it explains nothing
  }
}

function readNumber(path: string): number | null {
  const text = readText(path);
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

/** `name (mode)`, and `unconfined` where there is none; another module may answer in the older of the two places. */
function readApparmorProfile(): string | null {
  const label =
    readText('/proc/self/attr/apparmor/current') ??
    (existsSync('/sys/module/apparmor') ? readText('/proc/self/attr/current') : null);
  const [, name = '', mode] = /^(.*?)(?: \((\w+)\))?$/.exec(label ?? '') ?? [];
  return mode === undefined || mode === 'unconfined' ? null : name;
}

/** Whatever lies below /proc, but what is there on every host. */
function listProcCovers(): string[] {
  const mounts = readText('/proc/self/mountinfo') ?? '';
  return mounts
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((at) => at.startsWith('/proc/') && at !== '/proc/sys/fs/binfmt_misc');
}

export function readSwitches(): HostSwitches {
  const status = readText('/proc/self/status') ?? '';
  return {
    closedCeilings: ['user', 'mnt', 'pid', 'ipc', 'net']
      .map((kind) => `user.max_${kind}_namespaces`)
      .filter((name) => readNumber(`/proc/sys/${name.replace('.', '/')}`) === 0),
    apparmorProfile: readApparmorProfile(),
    procCovers: listProcCovers(),
    isUsernsCloneOff: readNumber('/proc/sys/kernel/unprivileged_userns_clone') === 0,
    isApparmorRestricting:
      readNumber('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === 1,
    ptraceScope: readNumber('/proc/sys/kernel/yama/ptrace_scope') ?? 0,
    isFiltered: /^Seccomp:\s*2$/m.test(status),
    isContainer: ['/.dockerenv', '/run/.containerenv'].some(
      (path) => statSync(path, { throwIfNoEntry: false }) !== undefined,
    ),
  };
}
