import { constants } from 'node:os';
import type { ConnectionFact } from '../../egress/egress.ts';
import type { LimitName } from '../backend.ts';
import { toExitCode } from '../exit-code.ts';
import { toDenial } from '../network-rules.ts';
import { OutputBuffer } from '../output-buffer.ts';
import type {
  Denial,
  ExecEvent,
  ExecEvidence,
  ExecOptions,
  ExecResult,
  Outcome,
  SandboxProcess,
  Usage,
} from '../sandbox.ts';
import type { SandboxError } from '../sandbox-error.ts';
import type { SandboxLimits } from '../spec.ts';
import { type Cause, type Ending, listReached, toOutcome } from './call-outcome.ts';
import { defer } from './deferred.ts';
import { breach } from './frames.ts';
import type { CallListener, GuestLink } from './guest-link.ts';
import type { Exit } from './messages.ts';
import { StdinQueue } from './stdin-queue.ts';

/** A guest that has not ended a call by then is not in order any more, and is ended itself. */
const KILL_GRACE_MS = 10_000;

export interface CallRequest {
  readonly link: GuestLink;
  readonly argv: readonly string[];
  readonly payload: Buffer;
  readonly limits: SandboxLimits;
  readonly options: ExecOptions;
  /** Ends the machine. */
  readonly endMachine: () => void;
  /** Resolves when everything that went through the door is told. */
  readonly drain: () => Promise<void>;
  readonly attest: (call: CallFacts) => Promise<ExecEvidence>;
}

/** What the evidence is made of. */
export interface CallFacts {
  readonly startedMs: number;
  readonly outcome: Outcome;
  readonly denials: readonly Denial[];
  readonly connections: readonly ConnectionFact[];
}

/** Everything about the end but the evidence. */
interface Ended {
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly reached: readonly LimitName[];
  readonly dropped: { readonly stdout: number; readonly stderr: number };
}

const NOTHING_DROPPED = { stdout: 0, stderr: 0 } as const;

/** One program of a guest, from the request to the result. */
export class GuestCall implements SandboxProcess, CallListener {
  readonly #request: CallRequest;
  readonly #outputs: { readonly stdout: OutputBuffer; readonly stderr: OutputBuffer };
  readonly #stdin: StdinQueue;
  readonly #result = defer<ExecResult>();
  readonly #startedMs = Date.now();
  readonly #started = performance.now();
  readonly #denials: Denial[] = [];
  readonly #connections: ConnectionFact[] = [];
  readonly #events: ExecEvent[] = [];
  #id = 0;
  #cause: Cause;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(request: CallRequest) {
    this.#request = request;
    const { link, limits } = request;
    const most = limits.outputBytes ?? Number.MAX_SAFE_INTEGER;
    this.#outputs = { stdout: new OutputBuffer(most), stderr: new OutputBuffer(most) };
    this.#stdin = new StdinQueue(
      (chunk) => link.send('stdin', this.#id, chunk),
      () => link.send('stdinEnd', this.#id),
    );
    this.#result.promise.catch(() => undefined); // whoever waits hears of it
  }

  async start(): Promise<void> {
    const { link, payload, limits, options } = this.#request;
    if (options.signal?.aborted) return this.#end(this.#unfinished('aborted'));
    options.signal?.addEventListener('abort', this.#onAbort);
    if (limits.wallMs !== undefined)
      this.#timer = setTimeout(() => this.stop('timeout'), limits.wallMs);
    try {
      this.#id = await link.startCall(payload, this);
    } catch (error) {
      this.#settle();
      throw error;
    }
    // Asked for before there was a number to ask with.
    if (this.#cause) link.send('kill', this.#id);
  }

  /** Ends everything that the call has started. */
  stop(cause: NonNullable<Cause>): void {
    if (this.#isOver || this.#cause) return;
    this.#cause = cause;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#request.endMachine(), KILL_GRACE_MS);
    if (this.#id) this.#request.link.send('kill', this.#id);
  }

  onOutput(stream: 'stdout' | 'stderr', data: Buffer): void {
    const kept = this.#outputs[stream].add(data);
    if (kept.length > 0) this.#tell({ type: stream, data: kept });
  }

  onCredit(bytes: number): void {
    if (!this.#stdin.grant(bytes)) throw breach('more input taken than was given');
  }

  /** Whichever call made it: that cannot be told, so each that runs is told of it. */
  onConnection(fact: ConnectionFact): void {
    this.#connections.push(fact);
    if (fact.verdict.isAllowed) return;
    const denial = toDenial(fact);
    this.#denials.push(denial);
    this.#tell({ type: 'denied', denial });
  }

  onExit(exit: Exit): void {
    const { limits, argv } = this.#request;
    const ending: Ending = { exit, cause: this.#cause, limits, program: argv[0] ?? '' };
    try {
      this.#end({
        outcome: toOutcome(ending),
        reached: listReached(ending),
        usage: {
          cpuMs: exit.cpuUs / 1000,
          maxMemoryBytes: exit.maxMemoryBytes,
          diskBytes: exit.diskBytes,
        },
        dropped: exit.dropped,
      });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  onLost(error: SandboxError): void {
    if (this.#cause) this.#end(this.#unfinished(this.#cause));
    else this.#fail(error);
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#stdin.write(typeof data === 'string' ? Buffer.from(data) : data);
  }

  closeStdin(): Promise<void> {
    this.#stdin.end();
    return Promise.resolve();
  }

  signal(name: NodeJS.Signals): Promise<void> {
    const number = constants.signals[name];
    if (!this.#isOver && this.#id) this.#request.link.sendNumber('signal', this.#id, number);
    return Promise.resolve();
  }

  wait(): Promise<ExecResult> {
    return this.#result.promise;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<ExecEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event) {
        yield event;
        if (event.type === 'end') return;
        continue;
      }
      if (this.#isOver) {
        await this.#result.promise; // throws where there is no end to tell of
        if (this.#events.length === 0) return;
        continue;
      }
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop('aborted');
    await this.#result.promise.catch(() => undefined);
  }

  readonly #onAbort = (): void => this.stop('aborted');

  #unfinished(cause: NonNullable<Cause>): Ended {
    const limitMs = this.#request.limits.wallMs ?? 0;
    const outcome: Outcome =
      cause === 'aborted' ? { kind: 'aborted' } : { kind: 'timeout', limitMs };
    return { outcome, usage: {}, reached: [], dropped: NOTHING_DROPPED };
  }

  #tell(event: ExecEvent): void {
    this.#request.options.onEvent?.(event);
    this.#events.push(event);
    this.#wake?.();
  }

  #settle(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.options.signal?.removeEventListener('abort', this.#onAbort);
    this.#stdin.stop();
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#settle();
    this.#result.reject(error);
  }

  #end(ended: Ended): void {
    const durationMs = performance.now() - this.#started;
    this.#finish(ended, durationMs).then(
      (result) => {
        this.#tell({ type: 'end', result });
        this.#settle();
        this.#result.resolve(result);
      },
      (error: Error) => this.#fail(error),
    );
  }

  async #finish(ended: Ended, durationMs: number): Promise<ExecResult> {
    clearTimeout(this.#timer);
    await this.#request.drain();
    const { outcome, usage, reached, dropped } = ended;
    const { stdout, stderr } = this.#outputs;
    const denials = this.#denials;
    const evidence = await this.#request.attest({
      startedMs: this.#startedMs,
      outcome,
      denials,
      connections: this.#connections,
    });
    const hasDropped = stdout.hasDropped || stderr.hasDropped;
    return {
      outcome,
      isOk: outcome.kind === 'exited' && outcome.exitCode === 0,
      exitCode: toExitCode(outcome),
      stdout: stdout.take(),
      stderr: stderr.take(),
      truncated: {
        stdout: stdout.droppedBytes + dropped.stdout,
        stderr: stderr.droppedBytes + dropped.stderr,
      },
      durationMs,
      usage,
      denials,
      reached: [...new Set([...reached, ...(hasDropped ? (['outputBytes'] as const) : [])])],
      evidence,
    };
  }
}
