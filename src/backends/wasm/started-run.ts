import { toExitCode } from '../exit-code.ts';
import { OutputBuffer } from '../output-buffer.ts';
import type { Denial, ExecEvent, ExecResult, Outcome } from '../sandbox.ts';
import type { CellProcess, CellRun } from './cell-process.ts';
import { attestCall, type AttestedCall } from './evidence.ts';
import { PIECE_BYTES } from './frames.ts';
import type { RunEnd, RunRequest } from './protocol.ts';

/** How long a cell may take to say that a run has ended after its time is up, before it is not believed any more. */
const GRACE_MS = 5000;
const EMPTY = new Uint8Array(0);

interface KnownEnd extends Omit<RunEnd, 'outcome'> {
  readonly isUnknown?: boolean;
}

/** Of a run that the cell could not tell the end of. */
const UNKNOWN: KnownEnd = {
  isUnknown: true,
  reached: [],
  truncated: { stdout: 0, stderr: 0 },
  cpuMs: 0,
  maxMemoryBytes: undefined,
  diskBytes: 0,
  denials: [],
};

export interface RunInput extends AttestedCall {
  readonly onEvent: (event: ExecEvent) => void;
}

/** A program that is running, or that was not even started. */
export interface StartedRun {
  readonly result: Promise<ExecResult>;
  addStdin(data: string | Uint8Array): void;
  closeStdin(): void;
  stop(outcome: Outcome): void;
}

interface Output {
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
}

async function makeResult(
  input: RunInput,
  outcome: Outcome,
  end: KnownEnd,
  { output, durationMs }: { readonly output: Output; readonly durationMs: number },
): Promise<ExecResult> {
  const { cpuMs, maxMemoryBytes, diskBytes, denials } = end;
  const result: ExecResult = {
    outcome,
    isOk: outcome.kind === 'exited' && outcome.exitCode === 0,
    exitCode: toExitCode(outcome),
    stdout: output.stdout.take(),
    stderr: output.stderr.take(),
    truncated: {
      stdout: end.truncated.stdout + output.stdout.droppedBytes,
      stderr: end.truncated.stderr + output.stderr.droppedBytes,
    },
    durationMs,
    usage: end.isUnknown ? {} : { cpuMs, maxMemoryBytes, diskBytes },
    denials,
    reached: end.reached,
    evidence: await attestCall(input, { outcome, denials, durationMs }),
  };
  for (const denial of denials) input.onEvent({ type: 'denied', denial });
  input.onEvent({ type: 'end', result });
  return result;
}

/** Nothing runs, and that is the result. */
export function startNothing(input: RunInput, outcome: Outcome): StartedRun {
  const denials: Denial[] = outcome.kind === 'refused' ? [outcome.denial] : [];
  const output = { stdout: new OutputBuffer(0), stderr: new OutputBuffer(0) };
  return {
    result: makeResult(input, outcome, { ...UNKNOWN, denials }, { output, durationMs: 0 }),
    addStdin: () => undefined,
    closeStdin: () => undefined,
    stop: () => undefined,
  };
}

/** One run as seen from outside of its cell, which it is ended with when the cell does not end it. */
class CellStartedRun implements StartedRun {
  readonly result: Promise<ExecResult>;
  private readonly cell: CellProcess;
  private readonly run: CellRun;
  private readonly timers: NodeJS.Timeout[] = [];
  private stopped: Outcome | undefined;

  constructor(cell: CellProcess, request: RunRequest, input: RunInput) {
    this.cell = cell;
    const { wallMs, outputBytes } = request.limits;
    const output = {
      stdout: new OutputBuffer(outputBytes),
      stderr: new OutputBuffer(outputBytes),
    };
    const startedAt = performance.now();
    this.run = cell.run(request, (type, data) => {
      const kept = output[type].add(data);
      if (kept.length > 0) input.onEvent({ type, data: kept });
    });
    // The cell keeps the time; should it not, this does.
    this.after(wallMs + GRACE_MS, () => this.stop({ kind: 'timeout', limitMs: wallMs }));
    const abort = (): void => this.stop({ kind: 'aborted' });
    input.options.signal?.addEventListener('abort', abort);
    const finish = async (outcome: Outcome, end: KnownEnd): Promise<ExecResult> =>
      await makeResult(input, outcome, end, {
        output,
        durationMs: performance.now() - startedAt,
      });
    this.result = this.run.ended
      .then(
        (end) => finish(this.stopped ?? end.outcome, end),
        (error: unknown) => {
          // Ended together with its cell, on purpose: that is an outcome, not a fault.
          if (this.stopped) return finish(this.stopped, UNKNOWN);
          throw error;
        },
      )
      .finally(() => {
        for (const timer of this.timers) clearTimeout(timer);
        input.options.signal?.removeEventListener('abort', abort);
      });
  }

  private after(delayMs: number, act: () => void): void {
    this.timers.push(setTimeout(act, delayMs));
  }

  addStdin(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      this.run.addStdin(bytes.subarray(at, at + PIECE_BYTES));
  }

  closeStdin(): void {
    this.run.addStdin(EMPTY);
  }

  stop(outcome: Outcome): void {
    if (this.stopped) return;
    this.stopped = outcome;
    this.run.end(outcome);
    // A cell that does not end what it is told to end is not asked again.
    this.after(GRACE_MS, () => this.cell.kill());
  }
}

export function startRun(cell: CellProcess, request: RunRequest, input: RunInput): StartedRun {
  return new CellStartedRun(cell, request, input);
}
