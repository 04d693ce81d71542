import { constants } from 'node:os';
import { ReportReader } from '../../launch/report.ts';
import { EventQueue } from '../event-queue.ts';
import { OutputBuffer } from '../output-buffer.ts';
import type { ExecEvent, ExecOptions, ExecResult, SandboxProcess } from '../sandbox.ts';
import { type CallDone, type Holder, makeGone } from './holder.ts';
import type { HelperReport } from '../../launch/report.ts';

/** What is left of a call when everything in it has ended. */
export interface EndedCall {
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  readonly report: HelperReport;
  readonly done: CallDone;
  readonly isAborted: boolean;
}

export interface CallInput {
  readonly holder: Holder;
  readonly plan: Uint8Array;
  readonly outputBytes: number;
  readonly options: ExecOptions;
  /** It is started ahead, and waits for its code. */
  readonly isIdle?: boolean | undefined;
  readonly onRecord: (lines: string) => void;
  readonly finish: (ended: EndedCall) => Promise<ExecResult>;
}

/** One call, from the plan to its result. */
export class LocalCall implements SandboxProcess {
  readonly #holder: Holder;
  readonly #events = new EventQueue<ExecEvent>();
  #options: ExecOptions;
  readonly #stdout: OutputBuffer;
  readonly #stderr: OutputBuffer;
  readonly #reader: ReportReader;
  readonly #result: Promise<ExecResult>;
  readonly #id: number;
  #isAborted = false;
  #hasEnded = false;
  readonly #onAbort = (): void => this.abort();

  constructor(input: CallInput) {
    const { holder, options } = input;
    this.#holder = holder;
    this.#options = options;
    this.#stdout = new OutputBuffer(input.outputBytes);
    this.#stderr = new OutputBuffer(input.outputBytes);
    this.#reader = new ReportReader(input.onRecord);
    let id = 0;
    const done = new Promise<CallDone>((resolve, reject) => {
      const listener = {
        onOutput: (stream: 'stdout' | 'stderr', data: Buffer) => this.#take(stream, data),
        onReport: (lines: string) => this.#reader.feed(lines),
        onDone: (end: CallDone) => {
          this.#hasEnded = true;
          resolve(end);
        },
        onLost: () => {
          this.#hasEnded = true;
          reject(makeGone());
        },
      };
      id = holder.run(input.plan, listener, { isIdle: input.isIdle });
    });
    this.#id = id;
    options.signal?.addEventListener('abort', this.#onAbort);
    this.#result = this.#settle(done, input.finish);
    this.#result.catch(() => undefined); // whoever waits for it hears of it
  }

  get result(): Promise<ExecResult> {
    return this.#result;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What a call that has waited turns out to be. */
  begin(options: ExecOptions, timeoutMs: number): void {
    this.#options = options;
    options.signal?.addEventListener('abort', this.#onAbort);
    this.#holder.begin(this.#id, timeoutMs);
  }

  /** Ends everything that the call has started. */
  abort(): void {
    this.#isAborted = true;
    this.#holder.kill(this.#id);
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.#holder.write(this.#id, typeof data === 'string' ? Buffer.from(data) : data);
  }

  async closeStdin(): Promise<void> {
    this.#holder.endInput(this.#id);
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.#holder.signal(this.#id, constants.signals[name]);
  }

  async wait(): Promise<ExecResult> {
    return await this.#result;
  }

  [Symbol.asyncIterator](): AsyncIterator<ExecEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    await this.#result.catch(() => undefined);
  }

  /** Events are kept for whoever iterates; what `spawn()` hands out is iterated or not. */
  #tell(event: ExecEvent): void {
    this.#options.onEvent?.(event);
    this.#events.add(event);
  }

  #take(stream: 'stdout' | 'stderr', data: Buffer): void {
    const kept = (stream === 'stdout' ? this.#stdout : this.#stderr).add(data);
    if (kept.length > 0) this.#tell({ type: stream, data: kept });
  }

  async #settle(done: Promise<CallDone>, finish: CallInput['finish']): Promise<ExecResult> {
    let lost: Error | undefined;
    try {
      const end = await done.catch((error: Error) => {
        // A sandbox that was killed takes its calls with it.
        if (!this.#isAborted) lost = error;
        return undefined;
      });
      const result = await finish({
        stdout: this.#stdout,
        stderr: this.#stderr,
        report: this.#reader.finish(),
        done: end ?? NOTHING_LEFT,
        isAborted: this.#isAborted,
      }).catch((error: unknown) => {
        // Unless a limit says why it is gone, that it is gone says more than what could not be done without it.
        throw lost ?? error;
      });
      for (const denial of result.denials) this.#tell({ type: 'denied', denial });
      this.#tell({ type: 'end', result });
      return result;
    } finally {
      this.#options.signal?.removeEventListener('abort', this.#onAbort);
      this.#events.close();
    }
  }
}

/** A call that was given up before anything ran. */
export class UnstartedCall implements SandboxProcess {
  readonly #result: Promise<ExecResult>;

  constructor(finish: CallInput['finish']) {
    this.#result = finish({
      stdout: new OutputBuffer(0),
      stderr: new OutputBuffer(0),
      report: new ReportReader().finish(),
      done: NOTHING_LEFT,
      isAborted: true,
    });
    this.#result.catch(() => undefined); // whoever waits for it hears of it
  }

  async write(): Promise<void> {}

  async closeStdin(): Promise<void> {}

  async signal(): Promise<void> {}

  abort(): void {}

  async wait(): Promise<ExecResult> {
    return await this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecEvent, undefined> {
    yield { type: 'end', result: await this.#result };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const NOTHING_LEFT: CallDone = {
  free: { workBlocks: -1n, workInodes: -1n, tmpBlocks: -1n, tmpInodes: -1n },
};
