import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Attack, AttackRun } from './attack.ts';
import { SECRET_VARIABLE } from './process-attacks.ts';
import type { Stage } from './stage.ts';

const LONGEST_RUN_MS = 15_000;
/** As sandbox ends where the limit of time has ended the program. */
const EXIT_TIMED_OUT = 124;
const MOST_OUTPUT = 100_000;
/** Beyond what node itself opens first. */
const INHERITED_FD = 9;

const PRELUDES = {
  node: 'const fs = require("fs"); const say = (text) => fs.writeSync(1, text + "\\n"); const S = JSON.parse(process.argv[1]); say("started");\n',
  python:
    'import ctypes, json, os, sys\ndef say(text):\n    print(text, flush=True)\nS = json.loads(sys.argv[1])\n' +
    'libc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall.restype = ctypes.c_long\nsay("started")\n',
} as const;

const FLAGS = { node: '-e', python: '-c' } as const;

export interface ProgramOptions {
  readonly attack: Attack;
  readonly stage: Stage;
  /** The interpreter of the attack's language. */
  readonly interpreter: string;
  /** What comes before the command, such as `node assay.js sandbox --`; empty for a run without the sandbox. */
  readonly wrapper: readonly string[];
  readonly signal: AbortSignal;
}

/** Without what steers the interpreters, so that each attack is what it says; with the secret of the stage. */
function makeEnvironment({ secret, tmpdir }: Stage): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(ASSAY_)?(NODE_|PYTHON)/.test(name),
  );
  return { ...Object.fromEntries(kept), TMPDIR: tmpdir, [SECRET_VARIABLE]: secret };
}

/** Runs the attack's program once. It always ends: by itself, by the leash, or because everything is called off. */
export async function runProgram({
  attack,
  stage,
  interpreter,
  wrapper,
  signal,
}: ProgramOptions): Promise<AttackRun> {
  const code = `${PRELUDES[attack.language]}${attack.program}`;
  const command = [
    ...wrapper,
    interpreter,
    FLAGS[attack.language],
    code,
    JSON.stringify(stage.facts),
  ];
  const inherited = attack.inherit ? openSync(attack.inherit(stage), 'r') : undefined;
  const extra = Array<'ignore'>(INHERITED_FD - 3).fill('ignore');
  const child = spawn(command[0] ?? interpreter, command.slice(1), {
    cwd: stage.facts.work,
    env: makeEnvironment(stage),
    stdio: ['ignore', 'pipe', 'pipe', ...(inherited === undefined ? [] : [...extra, inherited])],
    detached: true,
  });
  let wasCut = false;
  let exitCode: number | null = null;
  const end = (): void => killGroup(child.pid);
  const leash = setTimeout(() => {
    wasCut = true;
    end();
  }, LONGEST_RUN_MS);
  signal.addEventListener('abort', end);
  let stdout = '';
  let stderr = '';
  let seen = 0;
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (stdout.length < MOST_OUTPUT) stdout += chunk;
    for (let at = stdout.indexOf('\n', seen); at >= 0; at = stdout.indexOf('\n', seen)) {
      attack.onLine?.(stdout.slice(seen, at), stage);
      seen = at + 1;
    }
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    if (stderr.length < MOST_OUTPUT) stderr += chunk;
  });
  try {
    await new Promise<void>((resolve) => {
      child.once('error', (error) => {
        stderr += error.message;
        resolve();
      });
      // Not "close", which a daemon that keeps the pipe would hold up.
      child.once('exit', (code) => {
        exitCode = code;
        setTimeout(resolve, 20);
      });
    });
  } finally {
    clearTimeout(leash);
    signal.removeEventListener('abort', end);
    if (inherited !== undefined) closeSync(inherited);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  // What a limit on time has ended had begun, though on a slow machine it has not said so yet.
  const hasStarted = stdout.startsWith('started\n') || exitCode === EXIT_TIMED_OUT;
  return { stdout, stderr, hasStarted, cutAfterMs: wasCut ? LONGEST_RUN_MS : undefined };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has just ended
  }
}
