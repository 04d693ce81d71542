import { isDeepStrictEqual } from 'node:util';
import type { ExpectedCall, Sandbox } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';

export type CreateSandbox = (options: {
  readonly signal?: AbortSignal | undefined;
}) => Promise<Sandbox>;

export interface PoolOptions {
  readonly create: CreateSandbox;
  /** How many wait at most. */
  readonly size: number;
  /** After one was taken: making the next would slow the start of its program down. */
  readonly refillDelayMs?: number | undefined;
}

/**
 * Sandboxes that are made before somebody asks for them. Each is handed out once, and then is the taker's to dispose
 * of: none comes back, so no task finds what another has left.
 */
export class SandboxPool implements AsyncDisposable {
  readonly #create: CreateSandbox;
  readonly #size: number;
  readonly #refillDelayMs: number;
  readonly #warm: Promise<Sandbox>[] = [];
  readonly #closing = new AbortController();
  #refill: NodeJS.Timeout | undefined;
  #expected: ExpectedCall | undefined;

  constructor({ create, size, refillDelayMs = 50 }: PoolOptions) {
    this.#create = create;
    this.#size = size;
    this.#refillDelayMs = refillDelayMs;
    this.fill();
  }

  /** Waiting or being made. */
  get warmCount(): number {
    return this.#warm.length;
  }

  /** Resolves when all that are being made are there, or could not be made. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#warm);
  }

  /** One that was made ahead, or a new one. What kept it from being made is thrown here. */
  async take(signal?: AbortSignal): Promise<Sandbox> {
    if (this.#closing.signal.aborted)
      throw new SandboxError('gone', 'The pool of sandboxes is closed');
    signal?.throwIfAborted();
    const warm = this.#warm.shift();
    this.#scheduleRefill();
    if (!warm) return this.#create({ signal });
    return signal ? await giveUpOn(signal, warm) : await warm;
  }

  /** What the next taker will likely run: those that are made from now on have it started already. */
  expect(call: ExpectedCall): void {
    if (!isDeepStrictEqual(call, this.#expected)) this.#expected = call;
  }

  fill(): void {
    while (this.#warm.length < this.#size && !this.#closing.signal.aborted) {
      const made = this.#make();
      // Whoever takes it is told. Until then it is nobody's failure.
      made.catch(() => undefined);
      this.#warm.push(made);
    }
  }

  /** No more are handed out, and those that wait are disposed of. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#refill);
    await Promise.all(this.#warm.splice(0).map(disposeIfMade));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #make(): Promise<Sandbox> {
    const sandbox = await this.#create({ signal: this.#closing.signal });
    if (this.#expected) await sandbox.expect?.(this.#expected);
    return sandbox;
  }

  #scheduleRefill(): void {
    if (this.#refill || this.#closing.signal.aborted) return;
    this.#refill = setTimeout(() => {
      this.#refill = undefined;
      this.fill();
    }, this.#refillDelayMs);
    this.#refill.unref();
  }
}

/** It belongs to the taker already: if the taker no longer waits, it is disposed of. */
async function giveUpOn(signal: AbortSignal, made: Promise<Sandbox>): Promise<Sandbox> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    stop = () => resolve('aborted');
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    const first = await Promise.race([made, aborted]);
    if (first !== 'aborted') return first;
    void disposeIfMade(made);
    throw signal.reason;
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}

async function disposeIfMade(made: Promise<Sandbox>): Promise<void> {
  const sandbox = await made.catch(() => undefined);
  await sandbox?.[Symbol.asyncDispose]();
}
