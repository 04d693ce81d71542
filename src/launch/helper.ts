import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { encodePlan } from './encode-plan.ts';
import { helperPath } from './helper-path.ts';
import { type HelperReport, parseReport } from './report.ts';

const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** From a terminal these reach the program directly; assay must only survive them. */
const FROM_TERMINAL = ['SIGINT', 'SIGQUIT'] as const;

function readFrom(fd: number, offset: number): string {
  const size = fstatSync(fd).size - offset;
  if (size <= 0) return '';
  const bytes = Buffer.allocUnsafe(size);
  const got = readSync(fd, bytes, 0, size, offset);
  return bytes.toString('latin1', 0, got);
}

/** Starts the helper on a descriptor that holds the plan, and resolves when it has ended. */
function superviseHelper(fd: number, helper: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(helper, [], { stdio: [0, 1, 2, fd], env: {}, cwd: '/' });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    const passUnlessTerminal = (signal: NodeJS.Signals): void => {
      if (!process.stdin.isTTY && !process.stderr.isTTY) child.kill(signal);
    };
    for (const name of PASSED_ON) process.on(name, pass);
    for (const name of FROM_TERMINAL) process.on(name, passUnlessTerminal);
    const release = (): void => {
      for (const name of PASSED_ON) process.off(name, pass);
      for (const name of FROM_TERMINAL) process.off(name, passUnlessTerminal);
    };
    child.once('error', (cause) => {
      release();
      reject(new AssayError('E_LAUNCH_FAILED', `Cannot start the helper: ${cause.message}`, { cause }));
    });
    child.once('exit', () => {
      release();
      resolve();
    });
  });
}

/** Performs one plan. The plan goes in, and the report comes out, through one file that has no name. */
export async function performPlan(plan: LaunchPlan, scratch: string): Promise<HelperReport> {
  const helper = helperPath();
  if (!existsSync(helper))
    throw new AssayError('E_HELPER_MISSING', `Cannot find the helper at ${helper}`, { hint: 'Run npm ci, which builds it' });
  const name = join(scratch, '.plan');
  const fd = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  try {
    const bytes = encodePlan(plan);
    writeSync(fd, bytes);
    await superviseHelper(fd, helper);
    return parseReport(readFrom(fd, bytes.length));
  } finally {
    closeSync(fd);
  }
}
