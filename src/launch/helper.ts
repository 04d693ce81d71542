import { closeSync, readSync, writeSync } from 'node:fs';
import type { ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import type { DoorRun } from './door-run.ts';
import { type EarlyHelper, openPlanFile } from './early-helper.ts';
import { encodePlan } from './encode-plan.ts';
import { helperPath } from './helper-path.ts';
import { loadFilter } from './load-filter.ts';
import { type HelperReport, ReportReader } from './report.ts';
import { type SpawnedHelper, spawnHelper, type SpawnRequest } from './spawn-helper.ts';

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

function isOnTerminal(): boolean {
  const { isatty } = process.getBuiltinModule('node:tty');
  return [0, 1, 2].some((fd) => isatty(fd));
}

/**
 * Signals go to the helper as long as it is there. Heard before it is let go: a program may start, and say that it is
 * ready, before another line of this runs.
 */
class PassedSignals {
  helper: SpawnedHelper | undefined;
  readonly #pass = (signal: NodeJS.Signals): void => {
    if (this.helper) return this.helper.kill(signal);
    this.stop(); // nobody is there for it but assay, which it ends
    process.kill(process.pid, signal);
  };
  readonly #passUnlessTerminal = (signal: NodeJS.Signals): void => {
    if (!this.helper || !isOnTerminal()) this.#pass(signal);
  };

  /**
   * Ctrl-Z reaches the program, too, which may have something to do first, or ignore it. The helper stops assay when the
   * program has stopped: a shell that took over before that would share its keys with the program.
   */
  readonly #stopWithProgram = (): void => {
    if (!this.helper || !isOnTerminal()) process.kill(process.pid, 'SIGSTOP');
  };

  constructor(helper: SpawnedHelper | undefined) {
    this.helper = helper;
    process.on('SIGTSTP', this.#stopWithProgram);
    for (const name of PASSED_ON) process.on(name, this.#pass);
    for (const name of FROM_TERMINAL) process.on(name, this.#passUnlessTerminal);
  }

  /** The run has ended: from now on Ctrl-Z is for assay. */
  endStops(): void {
    process.off('SIGTSTP', this.#stopWithProgram);
  }

  stop(): void {
    this.endStops();
    for (const name of PASSED_ON) process.off(name, this.#pass);
    for (const name of FROM_TERMINAL) process.off(name, this.#passUnlessTerminal);
  }
}

/**
 * The helper holds signals back as soon as it runs, for the program. One that comes before that ends the helper; it was
 * meant for the program all the same, which then has not started.
 */
function endUnstarted(report: HelperReport, signal: NodeJS.Signals | null): HelperReport {
  const isOurs = [...PASSED_ON, ...FROM_TERMINAL].some((name) => name === signal);
  if (signal === null || !isOurs || report.end || report.failed || report.hasRecord) return report;
  const { constants } = process.getBuiltinModule('node:os');
  const number = constants.signals[signal];
  return {
    ...report,
    end: { code: 128 + number, signal: number, timedOut: false, limit: '', ms: 0 },
  };
}

export interface PerformOptions {
  /** A directory for the plan, which has a name there only for a moment. */
  readonly scratch: string;
  /** A helper that waits for the plan. */
  readonly early?: EarlyHelper | undefined;
  /** Work that can be done while the program runs. */
  readonly meanwhile: () => void;
  /** The process ends with this run, so that nothing needs to be put back as it was. */
  readonly isLast?: boolean | undefined;
  /** Takes lines of the record while the program runs. */
  readonly onRecord?: ((lines: string) => void) | undefined;
  /** Serves the doors to the network of a plan that has them. Without it they are closed at once. */
  readonly loadDoors?: (() => Promise<ServeDoors>) | undefined;
}

/** Most runs have no doors, and load none of this. */
async function openDoors(
  request: SpawnRequest,
  plan: LaunchPlan,
  { loadDoors, early }: PerformOptions,
): Promise<DoorRun> {
  const { startWithDoors } = await import('./door-run.ts');
  return startWithDoors({ request, plan, early, load: loadDoors });
}

export interface PerformedPlan extends HelperReport {
  /** What went wrong in serving the doors. */
  readonly doorProblems: readonly string[];
  /** The report is whole when the run has ended; this is when the helper is gone, too. */
  readonly gone: Promise<unknown>;
}

interface Started {
  readonly helper: SpawnedHelper;
  /** Resolves when the run has ended, with the signal that ended the helper. */
  readonly over: Promise<NodeJS.Signals | null>;
  readonly keeper?: DoorRun['keeper'];
}

async function start(
  request: SpawnRequest,
  plan: LaunchPlan,
  options: PerformOptions,
): Promise<Started> {
  const { early } = options;
  if (plan.flags.hasDoors || plan.flags.isBrokered) {
    const { helper, keeper } = await openDoors(request, plan, options);
    if (helper !== early) return { helper, keeper, over: helper.ended };
    early.release();
    return { helper, keeper, over: early.told };
  }
  early?.release();
  const helper = early ?? spawnHelper(request);
  return { helper, over: early?.told ?? helper.ended };
}

/** Performs one plan. The plan goes in, and the report comes out, through one file that has no name. */
export async function performPlan(
  plan: LaunchPlan,
  options: PerformOptions,
): Promise<PerformedPlan> {
  const file = helperPath();
  const { early } = options;
  const fd = early?.fd ?? openPlanFile(options.scratch);
  // The broker's channel is another than that of a helper which waits.
  const signals = new PassedSignals(plan.flags.isBrokered ? undefined : early);
  let timer: NodeJS.Timeout | undefined;
  try {
    const bytes = encodePlan(plan, await loadFilter(plan.filter));
    writeSync(fd, bytes);
    const { helper, over, keeper } = await start({ file, fd }, plan, options);
    signals.helper = helper;
    const reader = new ReportReader(options.onRecord);
    const tail = new ReportTail(fd, bytes.length, reader);
    timer = options.onRecord && setInterval(() => tail.readOn(), POLL_MS);
    const { isLast = false } = options;
    const gone = isLast ? helper.ended : helper.ended.finally(() => signals.stop());
    gone.catch(() => undefined); // `over` tells the same, and somebody waits for that
    let signal: NodeJS.Signals | null;
    try {
      options.meanwhile();
      signal = await over;
    } finally {
      signals.endStops();
      await keeper?.close();
    }
    tail.readOn();
    const report = endUnstarted(reader.finish(), signal);
    return { ...report, doorProblems: keeper?.problems ?? [], gone };
  } catch (error) {
    signals.stop();
    throw error;
  } finally {
    if (timer) clearInterval(timer);
    if (early) early.closeFile();
    else closeSync(fd);
  }
}
