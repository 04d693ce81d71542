import { readFileSync, statSync } from 'node:fs';

/** Settings of this machine that explain why a probe failed. They are never taken for the answer itself. */
export interface HostSwitches {
  /** `user.max_user_namespaces`; null where it cannot be read. */
  readonly maxUserNamespaces: number | null;
  /** Debian's `kernel.unprivileged_userns_clone` is 0. */
  readonly isUsernsCloneOff: boolean;
  /** `kernel.apparmor_restrict_unprivileged_userns` is 1, as on Ubuntu since 23.10. */
  readonly isApparmorRestricting: boolean;
  /** This process is under a seccomp filter already: a container, or another assay. */
  readonly isFiltered: boolean;
  readonly isContainer: boolean;
  /** Security modules that are on; empty where that cannot be read. */
  readonly modules: readonly string[];
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

export function readSwitches(): HostSwitches {
  const status = readText('/proc/self/status') ?? '';
  const modules = readText('/sys/kernel/security/lsm');
  return {
    maxUserNamespaces: readNumber('/proc/sys/user/max_user_namespaces'),
    isUsernsCloneOff: readNumber('/proc/sys/kernel/unprivileged_userns_clone') === 0,
    isApparmorRestricting:
      readNumber('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === 1,
    isFiltered: /^Seccomp:\s*2$/m.test(status),
    isContainer: ['/.dockerenv', '/run/.containerenv'].some(
      (path) => statSync(path, { throwIfNoEntry: false }) !== undefined,
    ),
    modules: modules ? modules.split(',') : [],
  };
}
