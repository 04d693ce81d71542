import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { confineCell } from '../../../../src/backends/wasm/confine-cell.ts';
import { findEngines } from '../../../../src/backends/wasm/engines.ts';

/** What somebody would try who has broken out of an engine and runs code of his own in its process. */
const BROKEN_OUT = `const attempt = (name, act) => {
  try { console.log('ESCAPED', name, String(act()).slice(0, 80)); }
  catch (problem) { console.log('HELD', name, problem.code ?? problem.message); }
};
const fs = require('fs'), os = require('os');
const [planted, port, parent] = process.argv.slice(1);
attempt('read', () => fs.readFileSync(planted));
attempt('home', () => fs.readFileSync('/etc/passwd'));
attempt('list', () => { const names = fs.readdirSync('/root'); if (names.length === 0) throw new Error('empty'); return names; });
attempt('write', () => fs.writeFileSync(planted, 'changed'));
attempt('make', () => fs.writeFileSync('/usr/assay-made', 'x'));
attempt('environment', () => fs.readFileSync('/proc/' + parent + '/environ'));
attempt('signal', () => process.kill(Number(parent), 0));
attempt('identity', () => { if (process.getuid() === 0 && fs.readFileSync('/proc/self/status', 'utf8').match(/CapEff:\\s*0+\\n/) === null) return 'root'; throw new Error('no rights'); });
require('net').connect(Number(port), '127.0.0.1')
  .on('connect', () => { console.log('ESCAPED connect'); process.exit(); })
  .on('error', (problem) => { console.log('HELD connect', problem.code); process.exit(); });`;

let base = '';
let planted = '';
const server = createServer((socket) => socket.end('here'));
const port = (): number => (server.address() as { port: number }).port;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'assay-walls-'));
  planted = join(base, 'planted');
  writeFileSync(planted, 'canary');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
  rmSync(base, { recursive: true });
});

describe('the process of the engines', () => {
  const args = (): string[] => ['-e', BROKEN_OUT, planted, String(port()), String(process.pid)];

  it('is held by the boundary of this project when an engine does not hold', async () => {
    const { confinement } = await confineCell(findEngines());
    if (!confinement) throw new Error('this host has no boundary');
    const argv = [process.execPath, '--openssl-config=/dev/null', ...args()];
    const { file, identity, plan } = await confinement.prepare(argv, []);
    const child = spawn(file, [], {
      stdio: ['ignore', 'pipe', 'inherit', plan.fd],
      env: {},
      cwd: '/',
      ...identity,
    });
    let said = '';
    child.stdout?.on('data', (data: Buffer) => (said += data.toString()));
    await once(child, 'close');
    plan.close();
    expect(said).not.toContain('ESCAPED');
    expect(said.match(/^HELD/gm)?.length, said).toBe(9);
    expect(readFileSync(planted, 'utf8')).toBe('canary');
  });

  it('would get at all of it without', () => {
    const { stdout } = spawnSync(process.execPath, args(), { encoding: 'utf8' });
    for (const name of ['read', 'home', 'write', 'environment', 'signal'])
      expect(stdout).toMatch(new RegExp(`^ESCAPED ${name}`, 'm'));
    writeFileSync(planted, 'canary');
  });

  it('is said to be as strong as it is', async () => {
    const { gaps } = await confineCell(findEngines());
    expect(gaps).toEqual([]);
  });
});

describe('a cell that runs a program', () => {
  it('has no rights, no network and a filter', async () => {
    const { createWasmBackend } = await import('../../../../src/backends/wasm/wasm-backend.ts');
    await using sandbox = await createWasmBackend().create({});
    await sandbox.exec(['node', '-e', '1']);
    const cell = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => isOwnCell(pid))
      .at(-1);
    const status = readFileSync(`/proc/${cell}/status`, 'utf8');
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    expect(status).toMatch(/^Seccomp:\s*2$/m);
    expect(status).toMatch(/^CapEff:\s*0+$/m);
    expect(status).toMatch(/^CapBnd:\s*0+$/m);
    if (process.getuid?.() === 0)
      for (const name of ['net', 'mnt', 'pid', 'ipc', 'user'])
        expect(readlinkSync(`/proc/${cell}/ns/${name}`)).not.toBe(
          readlinkSync(`/proc/self/ns/${name}`),
        );
  });
});

function isOwnCell(pid: string): boolean {
  try {
    const { ppid, command } = readProcess(pid);
    if (!command.includes('wasm-cell')) return false;
    return (
      ppid === process.pid ||
      readProcess(String(ppid)).ppid === process.pid ||
      readProcess(String(readProcess(String(ppid)).ppid)).ppid === process.pid
    );
  } catch {
    return false; // ended meanwhile
  }
}

function readProcess(pid: string): { ppid: number; command: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return {
    ppid: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]),
    command: readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
  };
}
