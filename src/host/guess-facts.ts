import { existsSync, readFileSync } from 'node:fs';
import { AssayError } from '../core/errors.ts';
import { findCgroups } from './cgroups.ts';
import type { Arch, Availability, HostFacts } from './facts.ts';

const AVAILABLE: Availability = { isAvailable: true };

/** Kernel versions that brought each Landlock ABI. */
const LANDLOCK_SINCE: readonly (readonly [major: number, minor: number, abi: number])[] = [
  [7, 2, 10],
  [7, 1, 9],
  [7, 0, 8],
  [6, 15, 7],
  [6, 12, 6],
  [6, 10, 5],
  [6, 7, 4],
  [6, 2, 3],
  [5, 19, 2],
  [5, 13, 1],
];

function isAtLeast(
  [major, minor]: readonly [number, number],
  wantMajor: number,
  wantMinor: number,
): boolean {
  return major > wantMajor || (major === wantMajor && minor >= wantMinor);
}

function parseRelease(text: string): [number, number] {
  const [major = '0', minor = '0'] = text.split('.');
  return [Number.parseInt(major, 10) || 0, Number.parseInt(minor, 10) || 0];
}

function readArch(): Arch {
  const name = process.arch;
  if (name === 'x64' || name === 'arm64') return name;
  throw new AssayError(
    'E_BACKEND_UNAVAILABLE_UNENFORCEABLE',
    `Cannot run on ${name}: the filters are written for x64 and arm64`,
  );
}

/** Root of a container sees the number zero; what it may do is found out by doing. */
function readIds(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function isFilePresent(path: string): boolean {
  return existsSync(path);
}

/** What uname says, from a file: node:os takes longer to load than everything else here. */
function readKernelRelease(): string {
  try {
    return readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  } catch {
    return process.getBuiltinModule('node:os').release();
  }
}

/**
 * The facts as a kernel of this version would have them. Cheap, so that a start costs nothing; where a guess is wrong
 * the helper says so before the program starts, and the plan is made again with what it found.
 */
export function guessFacts(): HostFacts {
  const kernel = readKernelRelease();
  const version = parseRelease(kernel);
  const landlock = LANDLOCK_SINCE.find(([major, minor]) => isAtLeast(version, major, minor));
  const namespace: Availability = isFilePresent('/proc/self/ns/user')
    ? AVAILABLE
    : { isAvailable: false, reason: 'the kernel has no user namespaces' };
  return {
    arch: readArch(),
    kernel,
    ...readIds(),
    landlockAbi: landlock?.[2] ?? 0,
    landlockReason: landlock ? undefined : `Linux ${kernel} is older than 5.13`,
    seccomp: AVAILABLE,
    notify: isAtLeast(version, 5, 19)
      ? AVAILABLE
      : { isAvailable: false, reason: `Linux ${kernel} is older than 5.19` },
    descriptors: AVAILABLE,
    namespaces: {
      user: namespace,
      mount: isAtLeast(version, 5, 12)
        ? namespace
        : { isAvailable: false, reason: `Linux ${kernel} is older than 5.12` },
      pid: namespace,
      ipc: namespace,
      net: namespace,
    },
    ipv6: AVAILABLE,
    canBeLazy: isAtLeast(version, 4, 11),
    nft: isAtLeast(version, 4, 19)
      ? AVAILABLE
      : { isAvailable: false, reason: `Linux ${kernel} is older than 4.19` },
    hasPidMax: isAtLeast(version, 6, 14),
    cgroup: findCgroups(),
  };
}

/** The name of a user by its id, without asking anything but the local file. */
export function readUserName(uid: number): string {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return line?.split(':')[0] ?? String(uid);
}
