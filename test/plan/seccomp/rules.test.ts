import { describe, expect, it } from 'vitest';
import { compileFilter } from '../../../src/plan/seccomp/compile-filter.ts';
import type { BrokeredCalls, FilterRequest } from '../../../src/plan/seccomp/filter-request.ts';
import { ALLOW, NOTIFY } from '../../../src/plan/seccomp/rule.ts';
import { findSyscallNumber, type SyscallName } from '../../../src/plan/seccomp/syscall-numbers.ts';
import { runFilter } from './bpf-interpreter.ts';
import { ALL_BROKERED, ARCHES, AUDIT_ARCH, makeRequest, NOTHING_BROKERED } from './requests.ts';

/** Numbers as in the manual pages; an errno, or how the call goes on. */
type Expected = 'allow' | 'notify' | number;
type Row = readonly [call: SyscallName, args: readonly (number | bigint)[], expected: Expected];

const EPERM = 1;
const EACCES = 13;
const EBUSY = 16;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

const UNIX = 1;
const INET = 2;
const INET6 = 10;
const NETLINK = 16;
const STREAM = 1;
const DGRAM = 2;
const RAW = 3;
const SEQPACKET = 5;
const CLOEXEC = 0x80000;

const ALWAYS: readonly Row[] = [
  ['clone', [0x3d0f00], 'allow'],
  ['clone', [0x11], 'allow'],
  ['clone', [0x10000011], EPERM],
  ['clone', [0x20011], EPERM],
  ['clone', [0x80], EPERM],
  ['clone3', [0, 88], ENOSYS],
  ['unshare', [0x600], 'allow'],
  ['unshare', [0x10000000], EPERM],
  ['unshare', [0xdeadbeef_10000000n], EPERM],
  ['ptrace', [0], EPERM],
  ['io_uring_setup', [1, 0], ENOSYS],
  ['keyctl', [0], EPERM],
  ['bpf', [0], EPERM],
  ['open_by_handle_at', [3, 0, 0], EPERM],
  ['prlimit64', [0, 7, 1], 'allow'],
  ['prlimit64', [4242, 7, 0, 1], 'allow'],
  ['prlimit64', [4242, 7, 1n << 32n], EPERM],
  ['move_pages', [0], 'allow'],
  ['move_pages', [1], EPERM],
  ['prctl', [35, 14], EPERM],
  ['prctl', [38, 1], 'allow'],
  ['prctl', [4, 0], 'allow'],
  ['personality', [0], 'allow'],
  ['personality', [0x40000], 'allow'],
  ['personality', [0xffffffff], 'allow'],
  ['personality', [0xffffffff_ffffffffn], 'allow'],
  ['personality', [0x100000], EPERM],
  ['personality', [0x0004_0006], EPERM],
  ['ioctl', [0, 0x5412], EPERM],
  ['ioctl', [0, 0x1_0000_5412n], EPERM],
  ['ioctl', [0, 0x541c], EPERM],
  ['ioctl', [3, 0x40086602], EPERM],
  ['ioctl', [3, 0x5000940e], EPERM],
  ['ioctl', [0, 0x5413], 'allow'],
  ['ioctl', [0, 0x541b], 'allow'],
  ['ioctl', [3, 0x40049409], 'allow'],
  ['sendto', [3, 0, 0, 0x20000000, 1], EPERM],
  ['sendto', [3, 0, 0, 0x4000, 1], 'allow'],
  ['sendmsg', [3, 0, 0x20004000], EPERM],
  ['sendmsg', [3, 0, 0x4000], 'allow'],
  ['sendmmsg', [3, 0, 1, 0x20000000], EPERM],
  ['seccomp', [1, 8], 'allow'],
  ['landlock_create_ruleset', [], 'allow'],
  ['fchmod', [3, 0o644], 'allow'],
  ['shmget', [], 'allow'],
  ['execve', [1], 'allow'],
  ['mkdirat', [1], 'allow'],
  ['openat', [0xffffff9c, 1, 0x241], 'allow'],
  ['openat2', [], 'allow'],
];

const SOCKETS: readonly (readonly [string, FilterRequest['sockets'], readonly Row[]])[] = [
  [
    'all open',
    { inet: 'all', unix: 'any', netlink: true },
    [
      ['socket', [INET, STREAM | CLOEXEC, 0], 'allow'],
      ['socket', [INET6, DGRAM, 0], 'allow'],
      ['socket', [INET, STREAM, 262], 'allow'],
      ['socket', [INET, 10, 0], EAFNOSUPPORT],
      ['socket', [UNIX, DGRAM, 0], 'allow'],
      ['socket', [NETLINK, RAW | CLOEXEC, 0], 'allow'],
      ['socket', [NETLINK, RAW, 9], EPROTONOSUPPORT],
      ['socket', [17, RAW, 0x300], EAFNOSUPPORT],
      ['socket', [40, STREAM, 0], EAFNOSUPPORT],
      ['socket', [0x1_0000_0028n, STREAM, 0], EAFNOSUPPORT],
      ['socket', [38, SEQPACKET, 0], EAFNOSUPPORT],
      ['socketpair', [UNIX, DGRAM, 0], 'allow'],
      ['socketpair', [30, STREAM, 0], EAFNOSUPPORT],
      ['setsockopt', [3, 6, 30], EPERM],
    ],
  ],
  [
    'no bypass',
    { inet: 'no-bypass', unix: 'connected', netlink: false },
    [
      ['socket', [INET, STREAM, 0], 'allow'],
      ['socket', [INET6, STREAM | CLOEXEC | 0x800, 6], 'allow'],
      ['socket', [INET, STREAM, 262], EPROTONOSUPPORT],
      ['socket', [INET6, STREAM, 132], EPROTONOSUPPORT],
      ['socket', [INET, DGRAM, 0], EACCES],
      ['socket', [INET, DGRAM, 1], EACCES],
      ['socket', [INET, RAW, 1], EACCES],
      ['socket', [INET, SEQPACKET, 132], EACCES],
      ['socket', [0xffffffff_00000002n, RAW, 1], EACCES],
      ['socket', [UNIX, STREAM | CLOEXEC, 0], 'allow'],
      ['socket', [UNIX, SEQPACKET, 0], 'allow'],
      ['socket', [UNIX, DGRAM | CLOEXEC, 0], EACCES],
      ['socket', [UNIX, RAW, 0], EACCES],
      ['socket', [NETLINK, RAW, 0], EAFNOSUPPORT],
      ['socketpair', [UNIX, STREAM | CLOEXEC, 0], 'allow'],
      ['socketpair', [UNIX, DGRAM, 0], EACCES],
      ['socketpair', [UNIX, RAW | CLOEXEC, 0], EACCES],
      ['setsockopt', [3, 6, 30], EPERM],
      ['setsockopt', [3, 6, 23], EPERM],
      ['setsockopt', [3, 0x1_0000_0006n, 31], EPERM],
      ['setsockopt', [3, 6, 1], 'allow'],
      ['setsockopt', [3, 1, 30], 'allow'],
    ],
  ],
  [
    'no bypass but UDP',
    { inet: 'no-bypass', isUdpAllowed: true, unix: 'any', netlink: false },
    [
      ['socket', [INET, DGRAM | CLOEXEC, 0], 'allow'],
      ['socket', [INET6, DGRAM, 17], 'allow'],
      ['socket', [INET, DGRAM, 1], EACCES],
      ['socket', [INET, DGRAM, 136], EACCES],
      ['socket', [INET, STREAM, 262], EPROTONOSUPPORT],
    ],
  ],
  [
    'none',
    { inet: 'none', unix: 'none', netlink: false },
    [
      ['socket', [INET, STREAM, 0], EACCES],
      ['socket', [INET6, DGRAM, 0], EACCES],
      ['socket', [UNIX, STREAM, 0], EACCES],
      ['socketpair', [UNIX, STREAM, 0], 'allow'],
      ['socketpair', [UNIX, DGRAM, 0], EACCES],
    ],
  ],
];

const CWD = 0xffffff9c;
const BROKERED: readonly (readonly [string, Partial<BrokeredCalls>, readonly Row[]])[] = [
  [
    'nothing but its own safety',
    {},
    [
      ['seccomp', [1, 8], EBUSY],
      ['seccomp', [1, 0x1_0000_0009n], EBUSY],
      ['seccomp', [1, 1], 'allow'],
      ['seccomp', [0, 0], 'allow'],
      ['prctl', [4, 0], 0],
      ['prctl', [4, 1], 'allow'],
      ['openat', [CWD, 1, 0x241], 'allow'],
      ['execve', [1], 'allow'],
      ['connect', [3, 1, 16], 'allow'],
      ['sendto', [3, 0, 0, 0, 1], 'allow'],
      ['umask', [0], 'allow'],
    ],
  ],
  [
    'opens with effects',
    { opens: 'effects' },
    [
      ['open', [1, 0], 'allow'],
      ['open', [1, 1], 'notify'],
      ['open', [1, 0xffffffff_00000040n], 'notify'],
      ['openat', [CWD, 1, 0x80000], 'allow'],
      ['openat', [CWD, 1, 0x2], 'notify'],
      ['openat', [CWD, 1, 0x200], 'notify'],
      ['openat', [CWD, 1, 0x400000], 'notify'],
      ['openat', [CWD, 1, 0x200001], 'allow'],
      ['openat2', [CWD, 1, 1, 24], 'notify'],
      ['creat', [1], 'notify'],
      ['unlinkat', [CWD, 1], 'allow'],
    ],
  ],
  [
    'opens that probe',
    { opens: 'probe' },
    [
      ['open', [1, 0], 'notify'],
      ['open', [1, 0x200000], 'allow'],
      ['openat', [CWD, 1, 0x80000], 'notify'],
      ['openat', [0xffffffff_ffffff9cn, 1, 0], 'notify'],
      ['openat', [3, 1, 0x80000], 'allow'],
      ['openat', [3, 1, 0x41], 'notify'],
      ['openat', [CWD, 1, 0x200000], 'allow'],
    ],
  ],
  [
    'all opens',
    { opens: 'all' },
    [
      ['open', [1, 0], 'notify'],
      ['openat', [3, 1, 0], 'notify'],
      ['openat', [3, 1, 0x210000], 'allow'],
      ['openat2', [CWD, 1, 1, 24], 'notify'],
      ['flock', [3, 2], 'notify'],
      ['fcntl', [3, 37, 1], 'notify'],
      ['fcntl', [3, 38, 1], 'notify'],
      ['fcntl', [3, 1024, 1], 'notify'],
      ['fcntl', [3, 6, 1], 'allow'],
    ],
  ],
  [
    'sockets, processes and changes',
    { ...ALL_BROKERED, opens: 'none' },
    [
      ['connect', [3, 1, 16], 'notify'],
      ['bind', [3, 1, 16], 'notify'],
      ['listen', [3, 1], 'notify'],
      ['sendto', [3, 0, 0, 0, 0], 'allow'],
      ['sendto', [3, 0, 0, 0, 1], 'allow'],
      ['sendto', [3, 0, 0, 0x20000000, 1], EPERM],
      ['execve', [1], 'notify'],
      ['execveat', [1], 'notify'],
      ['fork', [], 'notify'],
      ['vfork', [], 'notify'],
      ['clone', [0x11], 'notify'],
      ['clone', [0x3d0f00], 'allow'],
      ['clone', [0x10000011], EPERM],
      ['umask', [0], 'notify'],
      ['renameat2', [], 'notify'],
      ['truncate', [], 'notify'],
      ['mknodat', [], 'notify'],
      ['fchmod', [3, 0o644], 'notify'],
      ['fchmodat2', [], 'notify'],
      ['fsetxattr', [], 'notify'],
      ['setxattrat', [], 'notify'],
      ['file_setattr', [], 'notify'],
    ],
  ],
];

describe.each(ARCHES)('the filter for %s', (arch) => {
  it.each(ALWAYS.filter(isThere))('always: %s(%s)', (...row) => {
    checkRow(makeRequest({ arch }), row);
  });

  describe.each(SOCKETS)('with sockets %s', (_, sockets, rows) => {
    it.each(rows.filter(isThere))('%s(%s)', (...row) => {
      checkRow(makeRequest({ arch, sockets }), row);
    });
  });

  describe.each(BROKERED)('with a broker that takes %s', (_, calls, rows) => {
    it.each(rows.filter(isThere))('%s(%s)', (...row) => {
      checkRow(makeRequest({ arch, notify: { ...NOTHING_BROKERED, ...calls } }), row);
    });
  });

  function isThere([call]: Row): boolean {
    return findSyscallNumber(call, arch) !== null;
  }

  it('refuses what connects unseen where the run is only watched', () => {
    const request = makeRequest({ arch, isObserveOnly: true });
    checkRow(request, ['sendto', [3, 0, 0, 0x20000000], EPERM]);
    checkRow(request, ['setsockopt', [3, 6, 30], EPERM]);
    checkRow(request, ['ptrace', [], 'allow']);
  });

  it('refuses attribute changes, nested Landlock domains and shared IPC when asked to', () => {
    const request = makeRequest({
      arch,
      isAttributeChangeRefused: true,
      isLandlockRefused: true,
      isIpcRefused: true,
    });
    checkRow(request, ['fchmod', [3, 0o644], EPERM]);
    checkRow(request, ['utimensat', [], EPERM]);
    checkRow(request, ['fchmodat', [], EPERM]);
    checkRow(request, ['landlock_restrict_self', [], EOPNOTSUPP]);
    checkRow(request, ['shmat', [], ENOSYS]);
    checkRow({ ...request, notify: ALL_BROKERED }, ['fchmod', [3, 0o644], EPERM]);
  });
});

function checkRow(request: FilterRequest, [call, args, expected]: Row): void {
  const nr = findSyscallNumber(call, request.arch);
  const data = { nr: nr ?? Number.NaN, arch: AUDIT_ARCH[request.arch], args: args.map(BigInt) };
  expect(describeVerdict(runFilter(compileFilter(request), data).verdict)).toBe(expected);
}

function describeVerdict(verdict: number): Expected {
  if (verdict === ALLOW) return 'allow';
  if (verdict === NOTIFY) return 'notify';
  expect(verdict >>> 16).toBe(5);
  return verdict & 0xffff;
}
