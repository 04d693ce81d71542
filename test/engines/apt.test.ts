import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const APT = join(import.meta.dirname, '../../scripts/engines/apt.sh');
/** Holds the lock as package tools do, until its input ends. */
const HOLDER = `
import fcntl, sys
lock = open(sys.argv[1], 'w')
fcntl.lockf(lock, fcntl.LOCK_EX)
print('held', flush=True)
sys.stdin.read()
`;

describe('scripts/engines/apt.sh', () => {
  const isThere = spawnSync('apt-get', ['--version']).status === 0;
  const children: ChildProcess[] = [];
  let base: string;
  let options: string[];

  beforeEach(() => {
    base = fs.mkdtempSync(join(tmpdir(), 'assay-apt-'));
    for (const name of ['lists/partial', 'cache/archives/partial'])
      fs.mkdirSync(join(base, name), { recursive: true });
    const places = [`Dir::State::Lists=${base}/lists`, `Dir::Cache=${base}/cache`];
    const sources = ['Dir::Etc::SourceList=/dev/null', 'Dir::Etc::SourceParts=/dev/null'];
    options = [...places, ...sources].flatMap((option) => ['-o', option]);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    fs.rmSync(base, { recursive: true, force: true });
  });

  it('waits for whoever holds a lock, and says so', async ({ skip }) => {
    if (!isThere) skip('there is no apt-get here');
    const holder = spawn('python3', ['-c', HOLDER, join(base, 'lists/lock')]);
    children.push(holder);
    await once(holder.stdout, 'data');
    const apt = spawn(APT, [...options, 'update'], { stdio: ['ignore', 'ignore', 'pipe'] });
    children.push(apt);
    const [said] = (await once(apt.stderr.setEncoding('utf8'), 'data')) as [string];
    expect(said).toBe(
      `Waiting for another package tool, which holds ${base}/lists/lock. It is held by process ${holder.pid} (python3)\n`,
    );
    expect(apt.exitCode).toBe(null);
    const ended = once(apt, 'exit');
    holder.stdin.end();
    expect(await ended).toEqual([0, null]);
  });

  it('passes on how apt-get ended, and what it printed', ({ skip }) => {
    if (!isThere) skip('there is no apt-get here');
    const words = [...options, '--simulate', 'install', 'no-such-package-at-all'];
    const { status, stdout, stderr } = spawnSync(APT, words, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 100, stderr: '' });
    expect(stdout).toContain('E: Unable to locate package no-such-package-at-all');
  });
});
