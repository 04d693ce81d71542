import { ends, isContained, isHeld } from '../expectations.ts';
import { CALLING, TRYING } from '../python.ts';
import type { ProgramRow, Row } from '../row.ts';

/** Asks the kernel for what nobody inside should have. */
const ask = (row: Pick<ProgramRow, 'name' | 'code'> & Partial<ProgramRow>): ProgramRow => ({
  group: 'hostile',
  language: 'python',
  needs: ['syscalls', 'shared kernel'],
  check: isHeld,
  ...row,
});

/** Calls that must fail on a kernel that is the host's: name, number on x86-64, on arm64, arguments. */
const CALLS: readonly (readonly [name: string, x86: number, arm: number, ...rest: string[]])[] = [
  ['ptrace of the parent', 101, 117, '16', 'os.getppid()', '0', '0'],
  ['keyctl', 250, 219, '0', '-3', '1'],
  ['add_key', 248, 217, 'b"user"', 'b"x"', 'b"x"', '1', '-3'],
  ['bpf', 321, 280, '5', 'b"\\0" * 128', '128'],
  ['io_uring_setup', 425, 425, '8', 'b"\\0" * 120'],
  ['userfaultfd', 323, 282, '0'],
  ['perf_event_open', 298, 241, 'b"\\0" * 128', '0', '-1', '-1', '0'],
  ['kexec_load', 246, 104, '0', '0', '0', '0'],
  ['init_module', 175, 105, 'b"x"', '1', 'b""'],
  ['finit_module', 313, 273, '0', 'b""', '0'],
  ['delete_module', 176, 106, 'b"nothing"', '0'],
  ['open_by_handle_at', 304, 265, '-100', 'b"\\0" * 64', '0'],
  ['mount', 165, 40, 'b"none"', 'b"/tmp"', 'b"tmpfs"', '0', '0'],
  ['umount2', 166, 39, 'b"/proc"', '2'],
  ['pivot_root', 155, 41, 'b"/tmp"', 'b"/tmp"'],
  ['move_mount', 429, 429, '-100', 'b"/tmp"', '-100', 'b"/workspace"', '0'],
  ['fsopen', 430, 430, 'b"tmpfs"', '0'],
  ['open_tree', 428, 428, '-100', 'b"/"', '1'],
  ['chroot', 161, 51, 'b"/tmp"'],
  [
    'setns',
    308,
    268,
    'os.open("/proc/self/ns/mnt", os.O_RDONLY) if os.path.exists("/proc/self/ns/mnt") else -1',
    '0',
  ],
  ['unshare', 272, 97, '0x10000000 | 0x20000'],
  ['settimeofday', 164, 170, 'b"\\0" * 16', '0'],
  ['sethostname', 170, 161, 'b"owned"', '5'],
  ['reboot', 169, 142, '0xfee1dead', '672274793', '0', '0'],
  ['swapon', 167, 224, 'b"/workspace/row.py"', '0'],
  ['acct', 163, 89, 'b"/workspace/row.py"'],
  ['syslog', 103, 116, '3', 'b"\\0" * 64', '64'],
  ['quotactl', 179, 60, '0x800002 << 8', 'b"/dev/vda"', '0', '0'],
  ['iopl', 172, 1000, '3'],
];

const SYSTEM_CALLS: Row[] = CALLS.map(([name, x86, arm, ...rest]) =>
  ask({
    name: `system call: ${name}`,
    code: `${CALLING}call('${name}', ${[x86, arm, ...rest].join(', ')})\n`,
  }),
);

const PRIVILEGES: Row[] = [
  ask({
    name: 'program that becomes root by a set-uid file',
    needs: ['processes', 'files', 'shared kernel'],
    code: `${TRYING}
import shutil, subprocess
def climb():
    shutil.copy('/bin/sh', '/workspace/sh')
    os.chown('/workspace/sh', 0, 0) if os.getuid() == 0 else None
    os.chmod('/workspace/sh', 0o6755)
    caps = subprocess.run(['/workspace/sh', '-p', '-c', 'cat /proc/self/status'], capture_output=True, text=True).stdout
    effective = [line for line in caps.splitlines() if line.startswith('CapEff')]
    if not effective or int(effective[0].split()[1], 16) == 0: raise PermissionError(errno.EPERM, 'no capability')
    return effective
attempt('set-uid', climb)
`,
    isAlone: true,
  }),
  ask({
    name: 'program with capabilities',
    needs: ['files', 'shared kernel'],
    code: `${TRYING}
def capable():
    lines = dict(line.split(':') for line in open('/proc/self/status').read().splitlines() if line.startswith(('CapEff', 'CapPrm', 'CapBnd', 'CapAmb', 'NoNewPrivs')))
    if int(lines['CapEff'], 16) == 0 and int(lines['CapPrm'], 16) == 0 and int(lines['NoNewPrivs']) == 1:
        raise PermissionError(errno.EPERM, 'none')
    return lines
attempt('capabilities', capable)
`,
  }),
  ask({
    name: 'program that changes its user',
    needs: ['processes', 'shared kernel'],
    code: `${TRYING}
# Becoming oneself is nothing.
attempt('setuid', lambda: os.setuid(os.getuid() + 1))
attempt('setgroups', lambda: os.setgroups([0, 6]))
`,
  }),
  ask({
    name: 'program that traces its parent and the first process',
    needs: ['syscalls', 'processes', 'shared kernel'],
    code: `${CALLING}
for pid in (os.getppid(), 1):
    if pid in (0, os.getpid()): continue
    call('ptrace %d' % pid, 101, 117, 16, pid, 0, 0)
    attempt('memory of %d' % pid, lambda: os.open('/proc/%d/mem' % pid, os.O_RDWR))
print('HELD nothing more')
`,
  }),
  ask({
    name: 'program that writes to the settings of the kernel',
    needs: ['files', 'shared kernel'],
    code: `${TRYING}
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/sys/vm/overcommit_memory', '/proc/sys/kernel/modprobe',
             '/sys/kernel/uevent_helper', '/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/release_agent', '/proc/1/oom_score_adj', '/sys/power/state'):
    attempt(path, lambda: os.open(path, os.O_WRONLY))
`,
  }),
  ask({
    name: 'program that reads the memory and the symbols of the kernel',
    needs: ['files', 'shared kernel'],
    code: `${TRYING}
for path in ('/proc/kcore', '/proc/kmsg', '/dev/mem', '/dev/kmsg', '/sys/kernel/debug/tracing/trace', '/sys/firmware/efi/efivars'):
    attempt(path, lambda: (os.listdir(path) or [])[0] if os.path.isdir(path) else os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 8) or read(path + '/'))
`,
  }),
];

const TRICKS: Row[] = [
  ask({
    name: 'race of a link against an open',
    needs: ['threads', 'files'],
    isAlone: true,
    check: isContained,
    seconds: 40,
    code: ({ planted }) => `${TRYING}
import threading
open('/workspace/good', 'w').write('good')
os.symlink('/workspace/good', '/workspace/link')
stop = time.time() + 2
def swap():
    while time.time() < stop:
        for target in ('${planted[0]}', '/workspace/good'):
            try:
                os.symlink(target, '/workspace/next')
                os.rename('/workspace/next', '/workspace/link')
            except OSError: pass
threading.Thread(target=swap).start()
seen = set()
while time.time() < stop:
    try: seen.add(read('/workspace/link'))
    except OSError: pass
print(seen)
`,
  }),
  ask({
    name: 'directory that is moved away while it is used',
    needs: ['processes', 'files'],
    isAlone: true,
    check: isContained,
    code: ({ planted }) => `${TRYING}
os.makedirs('/workspace/a/b/c')
inside = os.open('/workspace/a/b/c', os.O_RDONLY)
os.chdir('/workspace/a/b/c')
os.rename('/workspace/a/b', '/tmp/b') if os.stat('/tmp').st_dev == os.stat('/workspace').st_dev else os.rename('/workspace/a/b', '/workspace/b')
for levels in range(1, 12):
    look('up %d' % levels, lambda: read('../' * levels + '${planted[0]}'.lstrip('/')))
    look('from %d' % levels, lambda: os.read(os.open('../' * levels + '${planted[0]}'.lstrip('/'), os.O_RDONLY, dir_fd=inside), 100))
`,
  }),
  ask({
    name: 'program that writes over its own memory file',
    needs: ['files', 'shared kernel'],
    check: isContained,
    code: `${TRYING}
look('mem', lambda: os.close(os.open('/proc/self/mem', os.O_RDWR)))
look('exe', lambda: os.open('/proc/self/exe', os.O_RDWR))
attempt('parent exe', lambda: os.open('/proc/%d/exe' % os.getppid(), os.O_RDWR) if os.getppid() else open(''))
`,
  }),
  ask({
    name: 'program that passes descriptors to itself',
    needs: ['sockets', 'processes'],
    check: ends('exited'),
    code: `import array, os, socket
one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for _ in range(2000):
    try: socket.send_fds(one, [b'x'], [one.fileno(), two.fileno()])
    except OSError as problem:
        print('refused', problem.errno)
        break
print('done')
`,
    isAlone: true,
  }),
  ask({
    name: 'program that runs from memory',
    needs: ['syscalls', 'processes'],
    check: ends('exited', 'signaled'),
    code: ({ planted }) => `${TRYING}
file = os.memfd_create('x')
os.write(file, open('/bin/cat', 'rb').read())
if os.fork() == 0:
    try: os.execve(file, ['cat', '${planted[0]}'], {})
    except OSError as problem: print('HELD', problem.errno)
    os._exit(1)
os.wait()
`,
  }),
  ask({
    name: 'program that asks every socket family',
    needs: ['sockets'],
    check: ends('exited'),
    code: `import socket
made = []
for family in range(1, 46):
    for kind in (1, 2, 3):
        try:
            made.append(socket.socket(family, kind))
        except OSError: pass
print(sorted({s.family for s in made}))
`,
  }),
];

export const KERNEL_PROGRAMS: Row[] = [...SYSTEM_CALLS, ...PRIVILEGES, ...TRICKS];
