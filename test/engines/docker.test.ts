import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';

import { createDockerBackend } from '../../src/backends/docker/docker-backend.ts';
import type { ExecResult, Sandbox } from '../../src/backends/sandbox.ts';
import type { SandboxSpec } from '../../src/backends/spec.ts';
import { makeTarHeader, paddingAfter } from '../../src/evidence/bundle/tar-header.ts';
import { dockerEndpoints } from './docker.ts';

const MIB = 1024 * 1024;
const backend = createDockerBackend({ endpoints: dockerEndpoints() });
const { isAvailable, reasons } = await backend.probe();
const open: Sandbox[] = [];
let base: string;

const text = (data: Uint8Array): string => Buffer.from(data).toString();

async function create(spec: SandboxSpec): Promise<Sandbox> {
  const sandbox = await backend.create(spec);
  open.push(sandbox);
  return sandbox;
}

async function runPython(sandbox: Sandbox, code: string, options = {}): Promise<ExecResult> {
  const path = await sandbox.putCode?.('main.py', Buffer.from(code));
  return await sandbox.exec(['python3', path ?? ''], options);
}

const codeOf = async (action: Promise<unknown>): Promise<unknown> =>
  await action.then(
    () => 'nothing was thrown',
    (error: { code?: unknown }) => error.code,
  );

describe('containers of Docker', () => {
  beforeAll(() => {
    base = fs.mkdtempSync('/var/tmp/assay-test-docker-');
  });
  afterEach(async () => {
    for (const sandbox of open.splice(0)) await sandbox[Symbol.asyncDispose]();
  });
  afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

  const when = (name: string, action: () => Promise<void>): void =>
    it(name, { timeout: 60_000 }, async (context) => {
      if (!isAvailable) context.skip(`docker is not available: ${reasons.join('; ')}`);
      await action();
    });

  /** As root's own directories are: nobody else can even look into it. */
  const makeOwn = (files: Readonly<Record<string, string>>): string => {
    const host = fs.mkdtempSync(join(base, 'own-'));
    fs.chmodSync(host, 0o700);
    for (const [name, content] of Object.entries(files))
      fs.writeFileSync(join(host, name), content, { mode: 0o600 });
    return host;
  };

  when('work in a directory of root without being root', async () => {
    const host = makeOwn({ 'in.txt': 'in' });
    const sandbox = await create({ workspace: { host, mode: 'rw' } });
    const code = `import os
print(os.getuid(), open('/workspace/in.txt').read())
open('/workspace/out.txt', 'w').write('out')
os.makedirs('/workspace/a/b')`;
    const { stdout, stderr } = await runPython(sandbox, code);
    expect(text(stdout), text(stderr)).toBe('61000 in\n');
    const { uid, gid } = fs.statSync(join(host, 'out.txt'));
    expect({ uid, gid }).toEqual({ uid: 0, gid: 0 });
    expect(fs.statSync(join(host, 'a/b')).uid).toBe(0);
    // What leads there is gone as soon as the container is there.
    expect(fs.readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain('assay-mapped-');
    await sandbox[Symbol.asyncDispose]();
    expect(fs.readFileSync(join(host, 'out.txt'), 'utf8')).toBe('out');
  });

  when('read a directory of root that is ro, and change nothing in it', async () => {
    const host = makeOwn({ 'in.txt': 'in' });
    const sandbox = await create({ workspace: { host, mode: 'ro' } });
    const code = `print(open('/workspace/in.txt').read())
open('/workspace/in.txt', 'a')`;
    const { stdout, stderr } = await runPython(sandbox, code);
    expect(text(stdout)).toBe('in\n');
    expect(text(stderr)).toContain('Read-only file system');
    expect(await codeOf(sandbox.fs.writeFile('new', 'x'))).toBe('path_denied');
  });

  when('say what has changed in a directory of the host', async () => {
    const host = makeOwn({ same: 'same', edit: 'old', drop: 'drop' });
    const sandbox = await create({ workspace: { host, mode: 'rw' } });
    const code = `import os
open('/workspace/edit', 'w').write('new!'); os.remove('/workspace/drop'); open('/workspace/made', 'w')`;
    await runPython(sandbox, code);
    const changes = await sandbox.changes();
    expect(changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'deleted drop',
      'modified edit',
      'added made',
    ]);
  });

  when('run in an image with nothing in it but a program', async () => {
    const docker = new Docker({ socketPath: inject('dockerSocket') });
    const program = fs.readFileSync('/bin/busybox');
    const header = Buffer.from(makeTarHeader('busybox', program.length));
    header.write('0000755\0', 100);
    let sum = 8 * 0x20;
    header.forEach((byte, at) => (sum += at >= 148 && at < 156 ? 0 : byte));
    header.write(`${sum.toString(8).padStart(7, '0')}\0`, 148);
    const layer = Buffer.concat([
      header,
      program,
      Buffer.alloc(paddingAfter(program.length) + 1024),
    ]);
    const stream = await docker.importImage(layer as never, { repo: 'assay-test', tag: 'bare' });
    for await (const _ of stream) continue;
    const sandbox = await create({ image: 'assay-test:bare', env: { OWN: 'x' } });
    const { stdout, stderr } = await sandbox.exec([
      '/busybox',
      'sh',
      '-c',
      'echo $OWN; /busybox pwd',
    ]);
    expect(text(stdout), text(stderr)).toBe('x\n/workspace\n');
    const missing = await sandbox.exec(['python3']);
    expect(missing.outcome).toMatchObject({ kind: 'refused' });
  });

  when('refuse an image that the engine does not have', async () => {
    expect(await codeOf(create({ image: 'example.org/no-such-image:1' }))).toBe(
      'image_unavailable',
    );
  });

  when('give one call less memory than the sandbox has, and the next one all of it', async () => {
    const sandbox = await create({ limits: { memoryBytes: 256 * MIB } });
    const code = `block = bytearray(b'x') * (128 * 1024 * 1024)
print(len(block))`;
    const less = await runPython(sandbox, code, { limits: { memoryBytes: 64 * MIB } });
    expect(less.outcome).toEqual({ kind: 'limit', limit: 'memoryBytes', value: 64 * MIB });
    expect(text((await runPython(sandbox, code)).stdout)).toBe('134217728\n');
    const disk = runPython(sandbox, code, { limits: { diskBytes: MIB } });
    expect(await codeOf(disk)).toBe('policy_unenforceable');
  });

  when('carry much through the door, in both directions', async () => {
    const payload = randomBytes(8 * MIB);
    const digest = createHash('sha256').update(payload).digest('hex');
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const hash = createHash('sha256');
      socket.on('data', (data: Buffer) => hash.update(data));
      socket.on('end', () => socket.end(Buffer.concat([Buffer.from(hash.digest('hex')), payload])));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const sandbox = await create({ network: { allow: [`localhost:${port}`] } });
      await sandbox.fs.writeFile('payload', payload);
      const code = `import hashlib, socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT localhost:${port} HTTP/1.1\\r\\nHost: localhost:${port}\\r\\n\\r\\n')
head = b''
while not head.endswith(b'\\r\\n\\r\\n'): head += s.recv(1)
s.sendall(open('/workspace/payload', 'rb').read()); s.shutdown(socket.SHUT_WR)
got = b''
while True:
    piece = s.recv(65536)
    if not piece: break
    got += piece
print(got[:64].decode(), hashlib.sha256(got[64:]).hexdigest())`;
      const { stdout, stderr } = await runPython(sandbox, code);
      expect(text(stdout), text(stderr)).toBe(`${digest} ${digest}\n`);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  when('put code where programs can read it and not change it', async () => {
    const sandbox = await create({});
    const path = (await sandbox.putCode?.('a/b.py', Buffer.from('print(1)'))) ?? '';
    const code = `import os
for action in (lambda: open('${path}', 'a'), lambda: os.chmod('${path}', 0o777), lambda: os.remove('${path}')):
    try: action(); print('changed')
    except OSError as problem: print(problem.errno)`;
    const { stdout } = await runPython(sandbox, code);
    expect(text(stdout)).toBe('13\n30\n30\n');
    await sandbox.putCode?.('a/b.py', Buffer.from('print(2)'));
    expect(text((await sandbox.exec(['python3', path])).stdout)).toBe('2\n');
    expect(await sandbox.changes()).toEqual([]);
    expect(await codeOf(sandbox.putCode?.('../x', Buffer.from('')) ?? Promise.resolve())).toBe(
      'path_invalid',
    );
  });
});
