import { randomBytes } from 'node:crypto';
import type { Sandbox } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { FileState } from './file-state.ts';

const ID_BYTES = 16;

export interface SessionOptions {
  readonly maxSessions?: number | undefined;
  /** A session that nobody uses for so long is ended. */
  readonly idleMs?: number | undefined;
}

/** A sandbox that outlives the call that made it. */
export interface Session {
  /** Cannot be guessed: whoever knows it may use the sandbox. */
  readonly id: string;
  readonly sandbox: Sandbox;
  readonly state: FileState;
}

interface Entry extends Session {
  /** One call after the other: they share their files. */
  tail: Promise<unknown>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** The sandboxes that were asked to be kept, of one client. */
export class Sessions implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  readonly #maxSessions: number;
  readonly #idleMs: number;
  /** Places that are taken for sandboxes that are still being made. */
  #opening = 0;
  #isClosed = false;

  constructor({ maxSessions = 16, idleMs = 15 * 60_000 }: SessionOptions = {}) {
    this.#maxSessions = maxSessions;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Keeps the sandbox that `make` makes. Its place is taken before, and given back if there is none. */
  async open(make: () => Promise<Sandbox>): Promise<Session> {
    this.#requireRoom();
    this.#opening += 1;
    try {
      const sandbox = await make();
      if (!this.#isClosed) return this.#keep(sandbox);
      await sandbox[Symbol.asyncDispose]();
      throw refuseClosed();
    } finally {
      this.#opening -= 1;
    }
  }

  #requireRoom(): void {
    if (this.#isClosed) throw refuseClosed();
    if (this.#entries.size + this.#opening < this.#maxSessions) return;
    throw new SandboxError(
      'limit_invalid',
      `Cannot keep another session: there are ${this.#maxSessions} already`,
      { hint: 'End one with sandbox_destroy' },
    );
  }

  #keep(sandbox: Sandbox): Session {
    const state = new FileState();
    const id = `s-${randomBytes(ID_BYTES).toString('hex')}`;
    const entry = { id, sandbox, state, tail: Promise.resolve(), users: 0, idle: undefined };
    this.#entries.set(id, entry);
    this.#watchIdle(entry);
    return entry;
  }

  /** Runs `work` when the calls before it have ended. */
  async use<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(id);
    if (!entry)
      throw new SandboxError('not_found', `There is no session ${JSON.stringify(id)}`, {
        hint: 'It was ended, was unused for too long, or is of another connection. Leave session out to start a new one',
      });
    clearTimeout(entry.idle);
    entry.users += 1;
    const mine = entry.tail.then(() => work(entry));
    entry.tail = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#watchIdle(entry);
    }
  }

  /** Ends it at once, with what runs in it. */
  async destroy(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    this.#entries.delete(id);
    clearTimeout(entry.idle);
    await entry.sandbox.kill();
    await entry.sandbox[Symbol.asyncDispose]();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.destroy(id)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #watchIdle(entry: Entry): void {
    if (!this.#entries.has(entry.id)) return;
    entry.idle = setTimeout(() => void this.destroy(entry.id), this.#idleMs);
    entry.idle.unref();
  }
}

function refuseClosed(): SandboxError {
  return new SandboxError('gone', 'No more sessions: the server is closing');
}
