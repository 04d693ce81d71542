import * as fs from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { isContained, isHeld, prints } from '../expectations.ts';
import { CALLING, TRYING } from '../python.ts';
import type { ProgramRow, Row } from '../row.ts';
import type { World } from '../world.ts';

const look = (row: Pick<ProgramRow, 'name' | 'code'> & Partial<ProgramRow>): ProgramRow => ({
  group: 'files',
  language: 'python',
  needs: ['files'],
  check: isContained,
  ...row,
});

/** Links in a workspace, to what lies outside of it. */
function makeLinks({ makeWorkspace, planted }: World): string {
  const host = makeWorkspace({ 'inside.txt': 'inside\n' });
  const [beside = ''] = planted;
  fs.symlinkSync(beside, join(host, 'absolute'));
  fs.symlinkSync(`../${beside.slice(beside.lastIndexOf('/') + 1)}`, join(host, 'relative'));
  fs.symlinkSync('relative', join(host, 'chain'));
  fs.symlinkSync('..', join(host, 'up'));
  fs.symlinkSync('/', join(host, 'root'));
  return host;
}

const LOOK_THROUGH_LINKS = ({ planted }: World): string => {
  const [beside = ''] = planted;
  const name = beside.slice(beside.lastIndexOf('/') + 1);
  return `${TRYING}
for path in ('absolute', 'relative', 'chain', 'up/${name}', 'root${beside}'):
    look(path, lambda: read('/workspace/' + path))
    attempt('write ' + path, lambda: open('/workspace/' + path, 'r+b').write(b'x'))
print(open('/workspace/inside.txt').read().strip())
`;
};

const PLACES: Row[] = [
  look({
    name: 'does not see planted files of the host by absolute path',
    hasControl: true,
    code: ({ planted }) => `${TRYING}
for path in ${JSON.stringify(planted)}:
    look(path, lambda: read(path))
`,
  }),
  look({
    name: 'does not see planted files by way of ..',
    hasControl: true,
    code: ({ planted }) => `${TRYING}
for path in ${JSON.stringify(planted)}:
    for levels in (1, 2, 5, 40):
        look(path, lambda: read('../' * levels + path.lstrip('/')))
    look(path, lambda: read('../' + os.path.basename(path)))
`,
  }),
  look({
    name: 'finds no planted file anywhere in its tree',
    seconds: 60,
    code: ({ token }) => `${TRYING}
print('HELD nothing yet')
for top, dirs, files in os.walk('/'):
    if top == '/':
        dirs[:] = [name for name in dirs if name not in ('proc', 'sys', 'usr', 'lib')]
    for name in files:
        if '${token}' in name:
            print('ESCAPED', os.path.join(top, name))
`,
    check: isHeld,
  }),
  look({
    name: 'cannot change planted files of the host',
    code: ({ planted, base }) => `${TRYING}
for path in ${JSON.stringify(planted)}:
    def write():
        file = os.open(path, os.O_WRONLY)
        os.write(file, b'changed')
    attempt('write', write)
    attempt('truncate', lambda: os.truncate(path, 0))
    attempt('remove', lambda: os.remove(path))
    attempt('rename', lambda: os.rename(path, '/workspace/taken'))
    attempt('link', lambda: (os.link(path, '/workspace/linked'), read('/workspace/linked')))
    attempt('chmod', lambda: (os.chmod(path, 0), os.stat(path)))
attempt('create', lambda: os.open('${base}/made', os.O_CREAT | os.O_WRONLY))
`,
    check: (seen) => {
      isHeld(seen);
      expect(fs.existsSync(join(seen.world.base, 'made'))).toBe(false);
    },
  }),
];

const LINKS: Row[] = (['ro', 'rw', 'copy'] as const).map((mode) =>
  look({
    name: `follows no link out of a workspace (${mode})`,
    needs: ['files', mode],
    isAlone: true,
    isInPlace: true,
    spec: (world) => {
      const host = makeLinks(world);
      fs.writeFileSync(join(host, 'row.py'), LOOK_THROUGH_LINKS(world));
      return { workspace: { host, mode } };
    },
    code: LOOK_THROUGH_LINKS,
    check: (seen) => {
      expect(seen.out).toMatch(/^inside$/m);
      isContained(seen);
    },
  }),
);

const PROCESSES: Row[] = [
  look({
    name: 'sees nothing of a process of the host through /proc',
    hasControl: true,
    code: ({ hostPid, planted }) => `${TRYING}
for name in ('environ', 'cmdline', 'cwd/${(planted[0] ?? '').split('/').at(-1)}', 'root${planted[0]}'):
    look(name, lambda: read('/proc/${hostPid}/' + name))
`,
  }),
  look({
    name: 'sees nothing of the host through any process that it finds',
    code: ({ planted }) => `${TRYING}
print('HELD nothing yet')
pids = [name for name in os.listdir('/proc') if name.isdigit()] if os.path.isdir('/proc') else []
for pid in pids + ['self', 'thread-self']:
    for name in ('environ', 'root${planted[0]}', 'cwd/../${(planted[0] ?? '').split('/').at(-1)}'):
        look(pid + ' ' + name, lambda: read('/proc/' + pid + '/' + name))
`,
  }),
  look({
    name: 'has no descriptor but the three',
    code: ({ planted }) => `${TRYING}
print('HELD nothing yet')
for number in range(3, 1024):
    try:
        os.fstat(number)
    except OSError:
        continue
    if os.path.isdir('/proc/self/fd'):
        place = os.readlink('/proc/self/fd/%d' % number)
        # Python itself may hold what it runs, and what it lists.
        if place.startswith(('/workspace', '/proc', '/usr', '/lib', 'anon_inode:[event')):
            continue
        print('ESCAPED', number, place)
    look('below %d' % number, lambda: os.open('${planted[0]}'.lstrip('/'), os.O_RDONLY, dir_fd=number))
`,
    check: isContained,
  }),
  look({
    name: 'finds nothing of the host in its environment',
    needs: [],
    code: `import os
print(sorted(os.environ.items()))
`,
  }),
];

const DEVICES: Row[] = [
  look({
    name: 'opens no device that leads to the host',
    needs: ['files', 'shared kernel'],
    code: `${TRYING}
names = ['mem', 'kmem', 'port', 'kmsg', 'kvm', 'fuse', 'sda', 'sda1', 'vda', 'vda1', 'nvme0n1', 'loop0', 'loop-control',
  'mapper/control', 'net/tun', 'vhost-net', 'vhost-vsock', 'vsock', 'input/event0', 'snapshot', 'uinput', 'tty0', 'tty1', 'console', 'btrfs-control', 'userfaultfd', 'dri/card0', 'bus/usb/001/001', 'hwrng', 'watchdog', 'rtc0', 'autofs']
for name in names:
    attempt(name, lambda: os.open('/dev/' + name, os.O_RDWR | os.O_NONBLOCK))
`,
    check: isHeld,
  }),
  look({
    name: 'makes no device',
    needs: ['files', 'processes', 'shared kernel'],
    code: `${TRYING}
import stat
for place in ('/workspace', '/tmp', '/dev'):
    for kind, major, minor in ((stat.S_IFBLK, 7, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 254, 0), (stat.S_IFBLK, 8, 0)):
        def make():
            path = '%s/device-%d-%d' % (place, major, minor)
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            return os.open(path, os.O_RDONLY)
        attempt('%s %d:%d' % (place, major, minor), make)
`,
    check: isHeld,
  }),
  look({
    name: 'mounts nothing of the host',
    needs: ['files', 'syscalls'],
    code: ({ planted, base }) => `${CALLING}
os.makedirs('/workspace/at', exist_ok=True)
flags = {'bind': 4096, 'rbind': 4096 | 16384}
for name, flag in flags.items():
    call('mount ' + name, 165, 40, b'${base}', b'/workspace/at', b'none', flag, 0)
call('remount /', 165, 40, b'none', b'/', b'none', 32, 0)
look('planted', lambda: read('/workspace/at/${(planted[0] ?? '').split('/').at(-1)}'))
look('by name', lambda: read('${planted[0]}'))
`,
    check: isContained,
  }),
  look({
    name: 'reaches no socket of the host, such as that of Docker',
    needs: ['sockets', 'files'],
    hasControl: true,
    code: ({ unixPath }) => `${TRYING}
import socket
for path in ('${unixPath}', '/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/run/dbus/system_bus_socket', '/run/systemd/private', '/run/user/0/bus'):
    def reach():
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(2)
            s.connect(path)
            return s.recv(100) if path == '${unixPath}' else True
    attempt(path, reach)
`,
    check: isHeld,
  }),
];

export const FILE_ROWS: Row[] = [
  ...PLACES,
  ...LINKS,
  ...PROCESSES,
  ...DEVICES,
  {
    group: 'files',
    name: 'keeps a workspace that is ro as it is',
    needs: ['python', 'files', 'ro'],
    async act(kit) {
      const code = `${TRYING}
attempt('write', lambda: open('/workspace/kept.txt', 'w'))
attempt('create', lambda: open('/workspace/made', 'w'))
attempt('mkdir', lambda: os.mkdir('/workspace/made'))
attempt('remove', lambda: os.remove('/workspace/kept.txt'))
attempt('rename', lambda: os.rename('/workspace/kept.txt', '/workspace/other.txt'))
def change():
    os.chmod('/workspace/kept.txt', 0o777)
    assert os.stat('/workspace/kept.txt').st_mode & 0o777 == 0o777
attempt('chmod', change)
print(open('/workspace/kept.txt').read().strip())
`;
      const host = kit.world.makeWorkspace({ 'kept.txt': 'kept\n', 'row.py': code });
      const sandbox = await kit.open({ workspace: { host, mode: 'ro' } });
      const { stdout, outcome } = await sandbox.exec(kit.argvFor('python', 'row.py'));
      const out = Buffer.from(stdout).toString();
      expect(outcome, out).toEqual({ kind: 'exited', exitCode: 0 });
      expect(out).toMatch(/^kept$/m);
      expect(out).toMatch(/^HELD /m);
      expect(out).not.toContain('ESCAPED');
      expect(fs.readdirSync(host).toSorted()).toEqual(['kept.txt', 'row.py']);
      expect(fs.readFileSync(join(host, 'kept.txt'), 'utf8')).toBe('kept\n');
      expect(fs.statSync(join(host, 'kept.txt')).mode & 0o777).not.toBe(0o777);
    },
  },
  {
    group: 'files',
    name: 'writes into a workspace that is rw, which the host then sees',
    needs: ['python', 'files', 'rw'],
    async act(kit) {
      const host = kit.world.makeWorkspace({ 'in.txt': 'in\n' });
      const sandbox = await kit.open({ workspace: { host, mode: 'rw' } });
      const code = `open('/workspace/out.txt', 'w').write(open('/workspace/in.txt').read() * 2)`;
      const { isOk, stderr } = await kit.run(sandbox, { language: 'python', code });
      expect(isOk, Buffer.from(stderr).toString()).toBe(true);
      await sandbox[Symbol.asyncDispose]();
      expect(fs.readFileSync(join(host, 'out.txt'), 'utf8')).toBe('in\nin\n');
    },
  },
  {
    group: 'files',
    name: 'leaves the host alone when it works on a copy',
    needs: ['python', 'files', 'copy'],
    async act(kit) {
      const host = kit.world.makeWorkspace({ 'in.txt': 'in\n', 'gone.txt': 'gone\n' });
      const sandbox = await kit.open({ workspace: { host, mode: 'copy' } });
      const code = `import os
open('/workspace/in.txt', 'a').write('more')
os.remove('/workspace/gone.txt')
open('/workspace/made.txt', 'w').write('made')
`;
      const { isOk, stderr } = await kit.run(sandbox, { language: 'python', code });
      expect(isOk, Buffer.from(stderr).toString()).toBe(true);
      expect(fs.readdirSync(host).toSorted()).toEqual(['gone.txt', 'in.txt']);
      expect(fs.readFileSync(join(host, 'in.txt'), 'utf8')).toBe('in\n');
      expect(Buffer.from(await sandbox.fs.readFile('in.txt')).toString()).toBe('in\nmore');
    },
  },
  {
    group: 'files',
    name: 'starts with an empty workspace and an empty /tmp',
    language: 'python',
    needs: ['files'],
    isAlone: true,
    code: `import os
print([name for name in os.listdir('/workspace') if name != 'row.py'], os.listdir('/tmp'))
open('/tmp/a', 'w').write('x'); open('/workspace/a', 'w').write('y')
`,
    check: prints('[] []\n'),
  },
];
