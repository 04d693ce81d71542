import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from 'vitest';

import { createWasmBackend } from '../../../../src/backends/wasm/wasm-backend.ts';

const HOLDER = join(import.meta.dirname, '../../../fixtures/hold-wasm-sandbox.mjs');
const backend = createWasmBackend();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise; // the process has ended meanwhile
  }
}

/** Processes that run a cell for `parent`, or for a descendant of it. */
function findCells(parent: number): number[] {
  const own = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return own.flatMap((name) => {
    const stat = readOr(`/proc/${name}/stat`, '');
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== parent) return [];
    const isCell = readOr(`/proc/${name}/cmdline`, '').includes('wasm-cell');
    return [...(isCell ? [Number(name)] : []), ...findCells(Number(name))];
  });
}

function isThere(pid: number): boolean {
  const stat = readOr(`/proc/${pid}/stat`, '');
  return stat !== '' && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}

describe('the process of a sandbox', () => {
  it('ends with whoever started it, also when that is killed', async () => {
    const child = spawn(process.execPath, [HOLDER], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const cells = findCells(child.pid ?? 0);
    expect(cells.length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    for (let tries = 0; tries < 200 && cells.some(isThere); tries += 1) await sleep(50);
    expect(cells.filter(isThere)).toEqual([]);
  });

  it('has nothing of the environment and no file of this one', async () => {
    process.env['ASSAY_TEST_SECRET'] = 'planted-secret';
    await using sandbox = await backend.create({});
    await sandbox.exec(['node', '-e', '1']);
    const [cell] = findCells(process.pid);
    expect(readOr(`/proc/${cell}/environ`, 'gone')).not.toContain('planted-secret');
    const files = readdirSync(`/proc/${cell}/fd`)
      .map((fd) => readlinkSync(`/proc/${cell}/fd/${fd}`))
      .filter((target) => target.startsWith('/') && !target.startsWith('/dev/'));
    expect(files).toEqual([]);
    delete process.env['ASSAY_TEST_SECRET'];
  });

  it('that is killed is told as what it is, and is gone', async () => {
    await using sandbox = await backend.create({});
    const running = sandbox.exec(['node', '-e', 'for (;;);']);
    await sleep(1000);
    for (const cell of findCells(process.pid)) process.kill(cell, 'SIGKILL');
    await expect(running).rejects.toMatchObject({ code: 'engine_failed' });
    await expect(sandbox.exec(['node', '-e', '1'])).rejects.toMatchObject({
      code: 'engine_failed',
    });
    await expect(sandbox.fs.readFile('x')).rejects.toMatchObject({ code: 'engine_failed' });
  });

  it('is not even started for what cannot be had', async () => {
    const before = findCells(process.pid);
    await expect(backend.create({ image: 'example.org/image' })).rejects.toMatchObject({
      code: 'policy_unenforceable',
    });
    await expect(
      backend.create({ workspace: { host: '/no/such/place', mode: 'copy' } }),
    ).rejects.toMatchObject({ code: 'path_invalid' });
    await expect(backend.create({}, { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(findCells(process.pid)).toEqual(before);
  });
});

describe('a program', () => {
  it('talks, is signalled, and leaves its files', async () => {
    await using sandbox = await backend.create({});
    const code = `import sys
for line in sys.stdin:
    open('/workspace/log', 'a').write(line); print('heard ' + line.strip(), flush=True)`;
    const program = await sandbox.spawn(['python3', '-u', '-c', code]);
    await program.write('one\n');
    let heard = '';
    for await (const event of program) {
      if (event.type !== 'stdout') continue;
      heard += Buffer.from(event.data).toString();
      if (heard === 'heard one\n') await program.write('two\n');
      if (heard.endsWith('two\n')) await program.signal('SIGTERM');
    }
    expect(heard).toBe('heard one\nheard two\n');
    expect((await program.wait()).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
    expect(Buffer.from(await sandbox.fs.readFile('log')).toString()).toBe('one\ntwo\n');
  });
});
