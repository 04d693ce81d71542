import { constants } from 'node:os';
import type { Denial, ExecEvent, ExecOptions, ExecResult, SandboxProcess } from '../sandbox.ts';
import type { SandboxLimits } from '../spec.ts';
import { EventQueue } from '../event-queue.ts';
import type { KnownConnection } from '../evidence.ts';
import type { Ending } from './call-result.ts';
import type { OwnCause } from './outcome.ts';
import { StewardCall, type MoreLimits } from './steward-call.ts';
import type { StewardLink } from './steward-link.ts';

export interface RunningCallInput {
  readonly link: StewardLink;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  readonly more: MoreLimits;
  readonly options: ExecOptions;
  /** Ends the whole container: when nothing else does. */
  readonly giveUp: () => void;
  /** What the call has sent to the network is on its way, and told. */
  readonly drain: () => Promise<void>;
  /** Makes the result, when everything of the call is gone. */
  readonly finish: (ending: Ending) => Promise<ExecResult>;
}

/** How long what ends a call has, before stronger means are used. */
const ALL_AFTER_MS = 400;
const GIVE_UP_AFTER_MS = 3000;
/** Of refusals, and of connections, that are told one by one. */
const MAX_TOLD = 1000;

/** A call that is under way: what it prints, and what ends it. */
export class RunningCall implements SandboxProcess {
  readonly #input: RunningCallInput;
  readonly #call: StewardCall;
  readonly #result: Promise<ExecResult>;
  readonly #startedAt = performance.now();
  readonly #startedMs = Date.now();
  readonly #denials: Denial[] = [];
  readonly #connections: KnownConnection[] = [];
  readonly #events = new EventQueue<ExecEvent>();
  readonly #timers: NodeJS.Timeout[] = [];
  #hasEnded = false;
  #cause: OwnCause | undefined;

  constructor(input: RunningCallInput) {
    const { link, argv, cwd, env, limits, more, options } = input;
    this.#input = input;
    this.#call = new StewardCall(link, {
      argv,
      cwd,
      env,
      limits,
      more,
      onOutput: (type, data) => this.#tell({ type, data }),
    });
    const onAbort = (): void => this.stop('aborted');
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (limits.wallMs !== undefined) this.#after(limits.wallMs, () => this.stop('timeout'));
    this.#result = this.#wait().finally(() => {
      for (const timer of this.#timers) clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    });
    // Whoever waits for it hears of it, at the latest in wait().
    this.#result.catch(() => this.#events.close());
  }

  /** Ends everything that the call has started. The first reason stands. */
  stop(cause: OwnCause): void {
    if (this.#hasEnded) return;
    this.#cause ??= cause;
    this.#call.kill();
    this.#after(ALL_AFTER_MS, () => this.#input.link.killAll());
    this.#after(GIVE_UP_AFTER_MS, this.#input.giveUp);
  }

  addDenial(denial: Denial): void {
    if (this.#hasEnded || this.#denials.length >= MAX_TOLD) return;
    this.#denials.push(denial);
    this.#tell({ type: 'denied', denial });
  }

  addConnection(connection: KnownConnection): void {
    if (this.#connections.length < MAX_TOLD) this.#connections.push(connection);
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#call.write(typeof data === 'string' ? Buffer.from(data) : data);
  }

  async closeStdin(): Promise<void> {
    this.#call.closeStdin();
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.#call.signal(constants.signals[name]);
  }

  async wait(): Promise<ExecResult> {
    return await this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<ExecEvent> {
    yield* this.#events;
    await this.#result; // throws what went wrong
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop('aborted');
    await this.#result;
  }

  #after(ms: number, action: () => void): void {
    this.#timers.push(setTimeout(action, ms));
  }

  #tell(event: ExecEvent): void {
    this.#input.options.onEvent?.(event);
    this.#events.add(event);
    if (event.type === 'end') this.#events.close();
  }

  async #wait(): Promise<ExecResult> {
    const end = await this.#call.ended;
    // What it had sent by then may still be refused, and that is told with the rest.
    await this.#input.drain();
    this.#hasEnded = true;
    const { stdout, stderr } = this.#call;
    const result = await this.#input.finish({
      end,
      cause: this.#cause,
      stdout: stdout.take(),
      stderr: stderr.take(),
      // What was dropped inside, and what would have been too much out here.
      dropped: {
        stdout: stdout.droppedBytes + (end?.dropped.stdout ?? 0),
        stderr: stderr.droppedBytes + (end?.dropped.stderr ?? 0),
      },
      startedMs: this.#startedMs,
      durationMs: performance.now() - this.#startedAt,
      denials: this.#denials,
      connections: this.#connections,
    });
    this.#tell({ type: 'end', result });
    return result;
  }
}
