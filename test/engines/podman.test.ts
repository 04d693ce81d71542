import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDockerBackend } from '../../src/backends/docker/docker-backend.ts';
import { findRuntimeImage } from '../../src/backends/docker/runtime-image.ts';

const MIB = 1024 * 1024;
const text = (data: Uint8Array): string => Buffer.from(data).toString();

/** Its defaults are for hosts where root may do everything; these hold where it may not. */
const CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`;

function findProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'a Podman of its own needs root here';
  if (spawnSync('podman', ['--version']).status !== 0) return 'podman is not installed';
  return findRuntimeImage() ? undefined : 'the image was not made; npm run engines makes it';
}

describe('the socket of Podman', () => {
  const problem = findProblem();
  let base: string;
  let socketPath: string;
  let service: ChildProcess | undefined;
  const podman = (): string[] => ['--root', join(base, 'root'), '--runroot', join(base, 'run')];

  beforeAll(async () => {
    if (problem !== undefined) return;
    base = fs.mkdtempSync('/var/tmp/assay-podman-');
    socketPath = join(base, 'sock');
    fs.writeFileSync(join(base, 'containers.conf'), CONF);
    service = spawn(
      'podman',
      [...podman(), 'system', 'service', '--time=0', `unix://${socketPath}`],
      {
        env: { ...process.env, CONTAINERS_CONF: join(base, 'containers.conf') },
        cwd: base, // where its monitor notes a lack of memory
        stdio: 'ignore',
      },
    );
    for (let waited = 0; !fs.existsSync(socketPath) && waited < 20_000; waited += 50)
      await sleep(50);
  });

  afterAll(async () => {
    if (problem !== undefined) return;
    const ended = new Promise((resolve) => service?.once('exit', resolve));
    service?.kill('SIGTERM');
    await ended;
    spawnSync('podman', [...podman(), 'rm', '-fa'], { stdio: 'ignore' });
    spawnSync('umount', ['-R', join(base, 'root/overlay')], { stdio: 'ignore' });
    fs.rmSync(base, { recursive: true, force: true });
  });

  it('serves sandboxes as that of Docker does', { timeout: 120_000 }, async (context) => {
    if (problem !== undefined) context.skip(problem);
    const backend = createDockerBackend({ endpoints: { list: [{ socketPath }] } });
    const report = await backend.probe();
    expect(report.reasons).toEqual([]);
    expect(report.engine).toMatch(/^podman /);
    const sandbox = await backend.create({
      limits: { memoryBytes: 128 * MIB, pids: 20, diskBytes: 8 * MIB },
    });
    try {
      await sandbox.fs.writeFile(
        'echo.py',
        'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())',
      );
      const stdin = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
      const echo = await sandbox.exec(['python3', 'echo.py'], { stdin });
      expect(Buffer.from(echo.stdout).equals(stdin), text(echo.stderr)).toBe(true);
      expect(echo.outcome).toEqual({ kind: 'exited', exitCode: 0 });

      const hog = await sandbox.exec(['python3', '-c', `b = bytearray(b'x') * (400 << 20)`]);
      expect(hog.outcome).toEqual({ kind: 'limit', limit: 'memoryBytes', value: 128 * MIB });

      const bomb = `import os, time
for _ in range(60):
    if os.fork() == 0: time.sleep(20); os._exit(0)`;
      const forks = await sandbox.exec(['python3', '-c', bomb]);
      expect(forks.reached).toContain('pids');

      const late = await sandbox.exec(['sleep', '100'], { limits: { wallMs: 500 } });
      expect(late.outcome).toEqual({ kind: 'timeout', limitMs: 500 });
      expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['echo.py']);
    } finally {
      await sandbox[Symbol.asyncDispose]();
    }
    const left = spawnSync('podman', [...podman(), 'ps', '-aq'], { encoding: 'utf8' });
    expect(left.stdout).toBe('');
  });
});
