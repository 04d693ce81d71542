import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Row } from '../row.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const text = (data: Uint8Array): string => Buffer.from(data).toString();

const codeOf = async (action: Promise<unknown>): Promise<unknown> =>
  await action.then(
    () => 'nothing was thrown',
    (error: { code?: unknown }) => error.code,
  );

const FILE_API: Row[] = [
  {
    group: 'file api',
    name: 'writes, reads, lists, renames and removes',
    async act(kit) {
      const { fs: files } = await kit.open();
      const data = Buffer.from([0, 255, 10, 195, 40]);
      await files.mkdir('a/b');
      await files.writeFile('a/b/data.bin', data);
      await files.writeFile('a/note', 'note');
      await files.writeFile('a/note', 'nöte');
      expect(Buffer.from(await files.readFile('a/b/data.bin'))).toEqual(data);
      expect(Buffer.from(await files.readFile('/workspace/a/b/data.bin'))).toEqual(data);
      expect(text(await files.readFile('a/note'))).toBe('nöte');
      expect((await files.readdir('a')).toSorted()).toEqual(['b/', 'note']);
      expect((await files.readdir('')).toSorted()).toContain('a/');
      expect(await files.stat('a/b')).toMatchObject({ kind: 'directory' });
      expect(await files.stat('a/b/data.bin')).toEqual({ kind: 'file', sizeBytes: 5 });
      await files.rename('a/b/data.bin', 'moved.bin');
      expect(await codeOf(files.stat('a/b/data.bin'))).toBe('not_found');
      expect(Buffer.from(await files.readFile('moved.bin'))).toEqual(data);
      await files.rm('a');
      expect(await codeOf(files.readFile('a/note'))).toBe('not_found');
      expect(await codeOf(files.readdir('a'))).toBe('not_found');
      expect(await codeOf(files.rm('a'))).toBe('not_found');
    },
  },
  {
    group: 'file api',
    name: 'shares its files with programs, in both directions',
    needs: ['python', 'files'],
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile('in.txt', 'from outside');
      const code = `import os
print(open('/workspace/in.txt').read())
os.makedirs('/workspace/deep/er')
open('/workspace/deep/er/out.bin', 'wb').write(bytes(range(256)))`;
      const { stdout, stderr } = await kit.run(sandbox, { language: 'python', code });
      expect(text(stdout), text(stderr)).toBe('from outside\n');
      const out = await sandbox.fs.readFile('deep/er/out.bin');
      expect(Array.from(out)).toEqual(Array.from({ length: 256 }, (_, index) => index));
    },
  },
  {
    group: 'file api',
    name: 'reads no more than asked for',
    async act(kit) {
      const { fs: files } = await kit.open();
      await files.writeFile('big', 'x'.repeat(100_000));
      expect((await files.readFile('big', { maxBytes: 1000 })).length).toBe(1000);
      expect((await files.readFile('big')).length).toBe(100_000);
    },
  },
  {
    group: 'file api',
    name: 'refuses paths that lead out',
    async act(kit) {
      const { fs: files } = await kit.open();
      for (const path of [
        '../x',
        '/etc/passwd',
        'a/../../x',
        '/workspace/../etc/passwd',
        '/workspacex',
        'a\0b',
      ]) {
        expect(['path_denied', 'path_invalid'], path).toContain(await codeOf(files.readFile(path)));
        expect(['path_denied', 'path_invalid'], path).toContain(
          await codeOf(files.writeFile(path, 'x')),
        );
        expect(['path_denied', 'path_invalid'], path).toContain(await codeOf(files.rm(path)));
        expect(['path_denied', 'path_invalid'], path).toContain(
          await codeOf(files.rename('x', path)),
        );
      }
      expect(['path_denied', 'path_invalid']).toContain(await codeOf(files.rm('')));
    },
  },
  {
    group: 'file api',
    name: 'follows no link that a program has made and that leads out',
    needs: ['python', 'files', 'processes'],
    async act(kit) {
      const sandbox = await kit.open();
      const [planted = ''] = kit.world.planted;
      const code = `import os
os.symlink('${planted}', '/workspace/file')
os.symlink('/', '/workspace/root')
os.symlink('..', '/workspace/up')
os.symlink('/workspace/inner', '/workspace/own')
os.mkdir('/workspace/inner'); open('/workspace/inner/x', 'w').write('inner')`;
      const made = await kit.run(sandbox, { language: 'python', code });
      expect(made.isOk, text(made.stderr)).toBe(true);
      const held = ['path_denied', 'path_invalid', 'not_found'];
      for (const path of [
        'file',
        `root${planted}`,
        `up${planted}`,
        'up/etc/passwd',
        'root/etc/passwd',
      ]) {
        expect(held, path).toContain(await codeOf(sandbox.fs.readFile(path)));
        expect(held, path).toContain(await codeOf(sandbox.fs.writeFile(path, 'changed')));
        if (path !== 'file') expect(held, path).toContain(await codeOf(sandbox.fs.rm(path)));
      }
      expect(held).toContain(await codeOf(sandbox.fs.readdir('root')));
      expect(held).toContain(await codeOf(sandbox.fs.writeFile('up/made', 'x')));
      expect(await codeOf(sandbox.fs.readFile('file'))).not.toBe('nothing was thrown');
    },
  },
  {
    group: 'file api',
    name: 'is not stuck by what is no file',
    needs: ['python', 'files', 'processes'],
    async act(kit) {
      const sandbox = await kit.open();
      const code = `import os; os.mkfifo('/workspace/pipe')`;
      const made = await kit.run(sandbox, { language: 'python', code });
      if (!made.isOk) return; // then there is no pipe to be stuck at
      expect(await sandbox.fs.stat('pipe')).toMatchObject({ kind: 'other' });
      expect(['path_denied', 'path_invalid']).toContain(await codeOf(sandbox.fs.readFile('pipe')));
      expect(await codeOf(sandbox.fs.rm('pipe'))).toBe('nothing was thrown');
    },
  },
];

const STATE: Row[] = [
  {
    group: 'state',
    name: 'says what has changed since the sandbox was made',
    needs: ['python', 'files', 'copy'],
    async act(kit) {
      const host = kit.world.makeWorkspace({ same: 'same', edit: 'old', drop: 'drop' });
      fs.mkdirSync(join(host, 'dir'));
      fs.writeFileSync(join(host, 'dir/deep'), 'deep');
      const sandbox = await kit.open({ workspace: { host, mode: 'copy' } });
      expect(await sandbox.changes()).toEqual([]);
      const code = `import os
open('/workspace/edit', 'w').write('new!')
os.remove('/workspace/drop')
open('/workspace/dir/made', 'w').write('made')
open('/workspace/same', 'r').read()`;
      const result = await kit.run(sandbox, { language: 'python', code });
      expect(result.isOk, text(result.stderr)).toBe(true);
      await sandbox.fs.rm('row.py');
      const found = (await sandbox.changes()).toSorted((a, b) => (a.path < b.path ? -1 : 1));
      expect(found).toEqual([
        { path: 'dir/made', change: 'added', sha256: sha256('made'), sizeBytes: 4 },
        expect.objectContaining({ path: 'drop', change: 'deleted' }),
        { path: 'edit', change: 'modified', sha256: sha256('new!'), sizeBytes: 4 },
      ]);
    },
  },
  {
    group: 'state',
    name: 'says what was added to an empty workspace',
    needs: ['python', 'files'],
    async act(kit) {
      const sandbox = await kit.open();
      expect(await sandbox.changes()).toEqual([]);
      const code = `open('/workspace/one', 'w').write('1')`;
      await kit.run(sandbox, { language: 'python', code });
      await sandbox.fs.rm('row.py');
      expect(await sandbox.changes()).toEqual([
        { path: 'one', change: 'added', sha256: sha256('1'), sizeBytes: 1 },
      ]);
    },
  },
  {
    group: 'state',
    name: 'keeps files between the calls of a sandbox, and processes not',
    needs: ['python', 'files', 'processes'],
    async act(kit) {
      const sandbox = await kit.open();
      const run = async (code: string) =>
        text((await kit.run(sandbox, { language: 'python', code })).stdout);
      await run(`open('/workspace/count', 'w').write('1')
import os, time
if os.fork() == 0:
    time.sleep(1)
    open('/workspace/late', 'w').write('late')`);
      expect(await run(`print(open('/workspace/count').read())`)).toBe('1\n');
      expect(
        await run(`import os, time; time.sleep(1.5); print(os.path.exists('/workspace/late'))`),
      ).toBe('False\n');
    },
  },
  {
    group: 'state',
    name: 'keeps sandboxes apart',
    needs: ['python', 'files'],
    async act(kit) {
      const [one, two] = await Promise.all([kit.open(), kit.open()]);
      const write = `open('/workspace/mine', 'w').write('x'); open('/tmp/mine', 'w').write('x')`;
      await kit.run(one, { language: 'python', code: write });
      const look = `import os; print(os.path.exists('/workspace/mine'), os.path.exists('/tmp/mine'))`;
      const { stdout } = await kit.run(two, { language: 'python', code: look });
      expect(text(stdout)).toBe('False False\n');
      expect(await codeOf(two.fs.stat('mine'))).toBe('not_found');
      expect(one.id).not.toBe(two.id);
    },
  },
  {
    group: 'state',
    name: 'has no shared memory, message queues or semaphores of another sandbox',
    needs: ['python', 'syscalls'],
    async act(kit) {
      const [one, two] = await Promise.all([kit.open(), kit.open()]);
      const key = 0x61_7373;
      const shm = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(${key}, 4096, FLAGS), libc.msgget(${key}, FLAGS))`;
      await kit.run(one, { language: 'python', code: shm.replaceAll('FLAGS', '0o1666') });
      const { stdout } = await kit.run(two, {
        language: 'python',
        code: shm.replaceAll('FLAGS', '0'),
      });
      expect(text(stdout)).toBe('-1 -1\n');
    },
  },
  {
    group: 'state',
    name: 'runs several calls of one sandbox at a time',
    needs: ['python', 'files'],
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile('row.py', 'import sys; print(sys.stdin.read())');
      const run = async (stdin: string): Promise<string> =>
        text((await sandbox.exec(kit.argvFor('python', 'row.py'), { stdin })).stdout);
      expect(await Promise.all(['a', 'b', 'c'].map(run))).toEqual(['a\n', 'b\n', 'c\n']);
    },
  },
];

export const STATE_ROWS: Row[] = [...FILE_API, ...STATE];
