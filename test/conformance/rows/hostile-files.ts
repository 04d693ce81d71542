import { ends, isBitten, isContained } from '../expectations.ts';
import { TRYING } from '../python.ts';
import type { Row } from '../row.ts';
import { bomb, ENDING, MIB } from './bomb.ts';

export const DISK_PROGRAMS: Row[] = [
  bomb({
    name: 'disk bomb',
    needs: ['files', 'limit:diskBytes'],
    spec: { limits: { diskBytes: 8 * MIB } },
    options: ENDING,
    code: `with open('/workspace/big', 'wb', buffering=0) as file:
    for _ in range(2000): file.write(b'x' * 65536)
print('ESCAPED')
`,
    check: isBitten('diskBytes'),
  }),
  bomb({
    name: 'disk bomb in many places at once',
    needs: ['files', 'limit:diskBytes'],
    spec: { limits: { diskBytes: 8 * MIB } },
    options: ENDING,
    code: `import os
total = 0
for place in ('/workspace', '/tmp', '/var/tmp', '/dev/shm', os.environ.get('HOME', '/'), '/run', '/'):
    try:
        with open(place + '/big', 'wb', buffering=0) as file:
            for _ in range(2000): total += file.write(b'x' * 65536)
    except OSError: pass
print('ESCAPED' if total > 600 * 65536 * 16 else 'HELD', total)
`,
    check: isBitten('diskBytes'),
  }),
  bomb({
    name: 'sparse file of a terabyte',
    needs: ['files'],
    code: `${TRYING}
def sparse():
    with open('/workspace/sparse', 'wb') as file:
        file.truncate(1 << 40)
        file.seek(0); file.write(b'x')
    return os.stat('/workspace/sparse').st_blocks * 512
try:
    taken = sparse()
    print('ESCAPED' if taken > 1 << 30 else 'HELD takes', taken)
except OSError as problem:
    print('HELD', problem.errno)
`,
    check: isContained,
  }),
  bomb({
    name: 'allocation of a terabyte',
    needs: ['files', 'limit:diskBytes'],
    code: `${TRYING}
def allocate():
    with open('/workspace/held', 'wb') as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 40)
attempt('allocate', allocate)
`,
    check: isContained,
  }),
  bomb({
    name: 'inode bomb',
    needs: ['files', 'limit:inodes'],
    spec: { limits: { inodes: 500 } },
    options: ENDING,
    code: `import os
for index in range(20000): os.close(os.open('/workspace/%d' % index, os.O_CREAT | os.O_WRONLY))
print('ESCAPED')
`,
    check: isBitten('inodes'),
  }),
  bomb({
    name: 'directory bomb',
    needs: ['files', 'limit:inodes'],
    spec: { limits: { inodes: 500 } },
    options: ENDING,
    code: `import os
for index in range(20000): os.mkdir('/workspace/%d' % index)
print('ESCAPED')
`,
    check: isBitten('inodes'),
  }),
  bomb({
    name: 'directories deeper than a path can be',
    needs: ['files'],
    options: ENDING,
    code: `import os
depth = 0
try:
    for depth in range(3000):
        os.mkdir('d' * 100)
        os.chdir('d' * 100)
except OSError as problem:
    print('refused', problem.errno)
print(depth > 50)
`,
    check: ends('exited', 'limit'),
  }),
  bomb({
    name: 'names that are long, odd or no text',
    needs: ['files'],
    options: ENDING,
    code: `import os
for name in (b'x' * 255, b'\\xff\\xfe', b'\\n\\r\\x1b[31m', b'-rf', b' ', b'\\\\', b'..data', 'é'.encode() * 100, b'%s%n', b'CON'):
    try:
        with open(b'/workspace/' + name, 'wb') as file: file.write(b'x')
    except OSError as problem: print('refused', problem.errno)
print('made')
`,
    check: async ({ sandbox, ...seen }) => {
      ends('exited')({ sandbox, ...seen });
      await sandbox.fs.readdir('');
      await sandbox.changes();
    },
  }),
  bomb({
    name: 'files without rights, which have to go with the sandbox',
    needs: ['files'],
    options: ENDING,
    code: `import os
os.makedirs('/workspace/locked/inner')
open('/workspace/locked/inner/file', 'w').write('x')
os.chmod('/workspace/locked/inner/file', 0)
os.chmod('/workspace/locked/inner', 0)
os.chmod('/workspace/locked', 0)
print('locked')
`,
    check: ends('exited'),
  }),
];
