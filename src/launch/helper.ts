import { closeSync, existsSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { encodePlan } from './encode-plan.ts';
import { helperPath } from './helper-path.ts';
import { loadFilter } from './load-filter.ts';
import { type HelperReport, ReportReader } from './report.ts';
import { spawnHelper } from './spawn-helper.ts';

const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** From a terminal these reach the program directly; assay must only survive them. */
const FROM_TERMINAL = ['SIGINT', 'SIGQUIT'] as const;

const CHUNK_BYTES = 1 << 16;
const POLL_MS = 100;

/** Follows the report as it grows behind the plan. */
class ReportTail {
  private readonly fd: number;
  private offset: number;
  private readonly reader: ReportReader;
  private readonly bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);

  constructor(fd: number, offset: number, reader: ReportReader) {
    this.fd = fd;
    this.offset = offset;
    this.reader = reader;
  }

  readOn(): void {
    for (;;) {
      const got = readSync(this.fd, this.bytes, 0, CHUNK_BYTES, this.offset);
      if (got === 0) return;
      this.offset += got;
      this.reader.feed(this.bytes.toString('latin1', 0, got));
    }
  }
}

/** Starts the helper on a descriptor that holds the plan, and resolves when it has ended. */
async function superviseHelper(fd: number, file: string, meanwhile: () => void): Promise<void> {
  const helper = spawnHelper({ file, fd });
  const pass = (signal: NodeJS.Signals): void => helper.kill(signal);
  const passUnlessTerminal = (signal: NodeJS.Signals): void => {
    if (!process.stdin.isTTY && !process.stderr.isTTY) helper.kill(signal);
  };
  for (const name of PASSED_ON) process.on(name, pass);
  for (const name of FROM_TERMINAL) process.on(name, passUnlessTerminal);
  try {
    meanwhile();
    await helper.ended;
  } finally {
    for (const name of PASSED_ON) process.off(name, pass);
    for (const name of FROM_TERMINAL) process.off(name, passUnlessTerminal);
  }
}

export interface PerformOptions {
  /** A directory for the plan, which has a name there only for a moment. */
  readonly scratch: string;
  /** Work that can be done while the program runs. */
  readonly meanwhile: () => void;
  /** Takes lines of the record while the program runs. */
  readonly onRecord?: ((lines: string) => void) | undefined;
}

/** Performs one plan. The plan goes in, and the report comes out, through one file that has no name. */
export async function performPlan(
  plan: LaunchPlan,
  options: PerformOptions,
): Promise<HelperReport> {
  const helper = helperPath();
  if (!existsSync(helper))
    throw new AssayError('E_HELPER_MISSING', `Cannot find the helper at ${helper}`, {
      hint: 'Run npm ci, which builds it',
    });
  const name = join(options.scratch, '.plan');
  const fd = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  let timer: NodeJS.Timeout | undefined;
  try {
    const bytes = encodePlan(plan, await loadFilter(plan.filter));
    writeSync(fd, bytes);
    const reader = new ReportReader(options.onRecord);
    const tail = new ReportTail(fd, bytes.length, reader);
    timer = options.onRecord && setInterval(() => tail.readOn(), POLL_MS);
    await superviseHelper(fd, helper, options.meanwhile);
    tail.readOn();
    return reader.finish();
  } finally {
    clearInterval(timer);
    closeSync(fd);
  }
}
