import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

import type { Attack, RunResult } from './attack.ts';
import type { Fixture } from './fixture.ts';

/** ASSAY_BIN names another installation to attack, such as an unpacked package. */
export const ASSAY = process.env['ASSAY_BIN'] ?? join(import.meta.dirname, '../../bin/assay.js');
const NODE_DIR = dirname(process.execPath);
const LONGEST_RUN_MS = 20_000;

/** Runs the attack with nothing around it. */
export function runBare(attack: Attack, fixture: Fixture): Promise<RunResult> {
  return run({ attack, fixture, command: makeCommand(attack, fixture, attack.bareScript) });
}

/** Runs the attack inside, with further flags such as `--layers=-user`. */
export function runInside(
  attack: Attack,
  fixture: Fixture,
  extraFlags: readonly string[],
): Promise<RunResult> {
  const flags = joinLayers([...(attack.flags?.(fixture) ?? []), ...extraFlags]);
  const assay = attack.assay?.(fixture) ?? ASSAY;
  const command = [assay, 'sandbox', ...flags, '--', ...makeCommand(attack, fixture)];
  return run({ attack, fixture, command });
}

/** The row and the harness may each leave layers out, and assay takes the flag once. */
function joinLayers(flags: readonly string[]): string[] {
  const name = '--layers=';
  const isLayers = (flag: string) => flag.startsWith(name);
  const left = flags.filter(isLayers).map((flag) => flag.slice(name.length));
  const others = flags.filter((flag) => !isLayers(flag));
  return left.length === 0 ? others : [...others, `${name}${left.join(',')}`];
}

function makeCommand(attack: Attack, fixture: Fixture, script = attack.script): string[] {
  if (script === undefined) return ['./attack', attack.id, fixture.base, fixture.token];
  return ['/bin/sh', '-c', `echo "started $2"\n${script}`, 'sh', fixture.base, fixture.token];
}

interface RunOptions {
  readonly attack: Attack;
  readonly fixture: Fixture;
  readonly command: readonly string[];
}

async function run({ attack, fixture, command }: RunOptions): Promise<RunResult> {
  const words = attack.hasTerminal === true ? wrapInTerminal(fixture, command) : command;
  const inherited =
    attack.inherit === undefined ? undefined : fs.openSync(attack.inherit(fixture), 'r');
  const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe'];
  if (inherited !== undefined)
    stdio.push(...Array.from({ length: 6 }, () => 'ignore' as const), inherited);
  const startedAt = performance.now();
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: fixture.work,
    env: {
      PATH: `${NODE_DIR}:/usr/bin:/bin`,
      HOME: fixture.at('home'),
      GIT_CONFIG_NOSYSTEM: '1',
      ...attack.env?.(fixture),
    },
    stdio,
    detached: true,
    uid: fixture.attacker.uid,
    gid: fixture.attacker.gid,
  });
  const { pid } = child;
  const leash = setTimeout(() => {
    if (pid !== undefined) killGroup(pid);
  }, LONGEST_RUN_MS);

  let stdout = '';
  let stderr = '';
  let seen = 0;
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (stdout.length < 1_000_000) stdout += chunk;
    if (attack.isStalled === true) child.stdout?.pause();
    for (let end = stdout.indexOf('\n', seen); end >= 0; end = stdout.indexOf('\n', seen)) {
      const line = stdout.slice(seen, end);
      seen = end + 1;
      attack.onLine?.(line, fixture);
      if (line !== 'ready') continue;
      attack.whenReady?.(fixture);
      fixture.write('work/go', '');
    }
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));

  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.on('error', reject);
      // Not "close": a daemon that keeps the pipe open must not keep the harness waiting.
      child.on('exit', (...end) => setTimeout(() => resolve(end), 20));
    },
  ).finally(() => {
    clearTimeout(leash);
    if (inherited !== undefined) fs.closeSync(inherited);
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
  const elapsedMs = performance.now() - startedAt;
  return {
    stdout,
    stderr,
    code,
    signal,
    elapsedMs,
    hasStarted: stdout.includes(`started ${fixture.token}`),
  };
}

/** The program then runs on a terminal of its own, as from an interactive shell. */
function wrapInTerminal(fixture: Fixture, command: readonly string[]): string[] {
  fixture.write('pty.args', command.map((word) => `${word}\n`).join(''));
  return [fixture.program, 'pty-host', fixture.base, fixture.token];
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
