import { type Attack, saysGot } from './attack.ts';

/** System calls whose numbers differ between the architectures. */
const NUMBERS: Readonly<
  Record<
    'add_key' | 'bpf' | 'perf_event_open' | 'userfaultfd',
    readonly [x64: number, arm64: number]
  >
> = {
  add_key: [248, 217],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
};

function number(name: keyof typeof NUMBERS): string {
  const [x64, arm64] = NUMBERS[name];
  return `(${arm64} if os.uname().machine == "aarch64" else ${x64})`;
}

type Call = Pick<Attack, 'id' | 'title' | 'program' | 'vacuous'>;

/** Each of these is harmless when it works: what it makes goes away with the program. */
const CALLS: readonly Call[] = [
  {
    id: 'io-uring',
    title: 'set up io_uring, which system call filters miss',
    program: 'r = libc.syscall(425, 4, ctypes.create_string_buffer(256))',
    vacuous: 'io_uring is off on this host (kernel.io_uring_disabled)',
  },
  {
    id: 'nested-namespace',
    title: 'make a user namespace of its own',
    program: 'r = libc.unshare(0x10000000)',
    vacuous: 'this host makes no user namespaces',
  },
  {
    id: 'mount',
    title: 'prepare a file system to mount',
    // A context for a file system, which is never attached anywhere.
    program:
      'r = libc.syscall(430, b"tmpfs", 0)\nif r < 0:\n    libc.unshare(0x10020000)\n    r = libc.syscall(430, b"tmpfs", 0)',
    vacuous: 'nothing can be mounted here anyway',
  },
  {
    id: 'keyring',
    title: 'add a key to a kernel keyring',
    program: `r = libc.syscall(${number('add_key')}, b"user", b"assay-selftest", b"x", ctypes.c_size_t(1), ctypes.c_int(-2))`,
    vacuous: 'there are no keyrings here',
  },
  {
    id: 'bpf',
    title: 'make a BPF map',
    program: `import struct\nattr = struct.pack("IIIII", 1, 4, 4, 1, 0) + bytes(100)\nr = libc.syscall(${number('bpf')}, 0, attr, len(attr))`,
    vacuous: 'BPF is not for this user (kernel.unprivileged_bpf_disabled)',
  },
  {
    id: 'userfaultfd',
    title: 'handle its own page faults (userfaultfd)',
    program: `r = libc.syscall(${number('userfaultfd')}, 1)`,
    vacuous: 'there is no userfaultfd here',
  },
];

export const KERNEL_ATTACKS: readonly Attack[] = CALLS.map((call) => ({
  ...call,
  program: `${call.program}\nif r >= 0: say("got")`,
  class: 'system call',
  language: 'python',
  isThrough: saysGot,
}));
