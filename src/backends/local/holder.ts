import type { Socket } from 'node:net';
import { describeErrno } from '../../launch/errno.ts';
import { SandboxError } from '../sandbox-error.ts';
import { breach, type Frame, FrameReader, FROM_HOLDER, makeFrame, TO_HOLDER } from './frames.ts';

const NOTHING = new Uint8Array(0);
/** What of stdin may be on its way; the rest waits here, so that orders do not wait behind it. */
const STDIN_WINDOW = 256 * 1024;

/** What one call hears. */
export interface CallListener {
  onOutput(stream: 'stdout' | 'stderr', data: Buffer): void;
  onReport(lines: string): void;
  onDone(done: CallDone): void;
  /** The sandbox is gone, and the call with it. */
  onLost(): void;
}

export interface CallDone {
  /** Of the file systems of the sandbox, when the call was over. */
  readonly free: {
    readonly workBlocks: bigint;
    readonly workInodes: bigint;
    readonly tmpBlocks: bigint;
    readonly tmpInodes: bigint;
  };
}

interface OpenCall {
  readonly listener: CallListener;
  /** For its code: nobody waits for it. */
  isIdle: boolean;
  readonly waiting: Uint8Array[];
  outstanding: number;
  isInputOver: boolean;
  isEndSent: boolean;
}

/** An answer about a file: its bytes, or the number of an error. */
interface FileAnswer {
  readonly errno: number;
  readonly bytes: Buffer;
}

/** The connection to the process that holds one sandbox. Its end is the end of the sandbox. */
export class Holder {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #calls = new Map<number, OpenCall>();
  readonly #files = new Map<number, (answer: FileAnswer | undefined) => void>();
  #ready: { resolve(): void; reject(error: Error): void } | undefined;
  #lastId = 0;
  isGone = false;
  readonly #closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      try {
        for (const frame of this.#reader.feed(data)) this.#hear(frame);
      } catch (error) {
        if (!SandboxError.is(error)) throw error; // of whoever listens
        // Whoever waits for something hears that the sandbox is gone, which it is with its connection.
        socket.destroy(error);
      }
    });
    socket.on('error', () => undefined); // the close says it, too
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#lose();
        resolve();
      });
    });
  }

  async setUp(setUp: Buffer, boundary: Uint8Array): Promise<void> {
    const ready = new Promise<void>((resolve, reject) => {
      this.#ready = { resolve, reject };
    });
    this.#socket.write(
      Buffer.concat([
        makeFrame(TO_HOLDER.setup, 0, setUp),
        makeFrame(TO_HOLDER.boundary, 0, boundary),
      ]),
    );
    await ready;
  }

  run(plan: Uint8Array, listener: CallListener, { isIdle = false } = {}): number {
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.isGone) {
      queueMicrotask(() => listener.onLost());
      return id;
    }
    this.#calls.set(id, {
      listener,
      isIdle,
      waiting: [],
      outstanding: 0,
      isInputOver: false,
      isEndSent: false,
    });
    this.#settle();
    this.#send(TO_HOLDER.run, id, plan);
    return id;
  }

  /** That the next call gets, if nothing comes in between. */
  get nextId(): number {
    return this.#lastId + 1;
  }

  write(id: number, data: Uint8Array): void {
    const call = this.#calls.get(id);
    if (!call || call.isInputOver || data.length === 0) return;
    call.waiting.push(data);
    this.#feed(id, call);
  }

  endInput(id: number): void {
    const call = this.#calls.get(id);
    if (!call || call.isInputOver) return;
    call.isInputOver = true;
    this.#feed(id, call);
  }

  /** Resolves when everything that was written has been taken, or nobody takes it any more. */
  isInputTaken(id: number): boolean {
    const call = this.#calls.get(id);
    return !call || (call.waiting.length === 0 && call.outstanding === 0);
  }

  signal(id: number, number: number): void {
    if (this.#calls.has(id)) this.#send(TO_HOLDER.signal, id, toBytes(number));
  }

  /** A call that has waited begins now, and may take so long. */
  begin(id: number, timeoutMs: number): void {
    if (this.#wake(id)) this.#send(TO_HOLDER.clock, id, toBytes(timeoutMs));
  }

  kill(id: number): void {
    if (this.#wake(id)) this.#send(TO_HOLDER.kill, id, NOTHING);
  }

  async askFile(request: Uint8Array): Promise<FileAnswer> {
    if (this.isGone) throw makeGone();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = await new Promise<FileAnswer | undefined>((resolve) => {
      this.#files.set(id, resolve);
      this.#settle();
      this.#send(TO_HOLDER.file, id, request);
    });
    if (!answer) throw makeGone();
    return answer;
  }

  /** Ends the sandbox and everything in it; resolves when that is so. */
  async close(): Promise<void> {
    this.#socket.ref();
    this.#socket.end();
    await this.#closed;
  }

  /** From now on somebody waits for this call; false when it has ended. */
  #wake(id: number): boolean {
    const call = this.#calls.get(id);
    if (!call) return false;
    call.isIdle = false;
    this.#settle();
    return true;
  }

  /** A sandbox in which nothing is going on does not keep this process from ending. */
  #settle(): void {
    const isIdle = this.#files.size === 0 && [...this.#calls.values()].every((call) => call.isIdle);
    if (isIdle) this.#socket.unref();
    else this.#socket.ref();
  }

  #send(kind: string, id: number, payload: Uint8Array): void {
    this.#socket.write(makeFrame(kind, id, payload));
  }

  #feed(id: number, call: OpenCall): void {
    while (call.waiting.length > 0 && call.outstanding < STDIN_WINDOW) {
      const next = call.waiting.shift() ?? NOTHING;
      const room = STDIN_WINDOW - call.outstanding;
      const piece = next.subarray(0, room);
      if (next.length > room) call.waiting.unshift(next.subarray(room));
      call.outstanding += piece.length;
      this.#send(TO_HOLDER.stdin, id, piece);
    }
    if (call.isInputOver && !call.isEndSent && call.waiting.length === 0) {
      call.isEndSent = true;
      this.#send(TO_HOLDER.stdinEnd, id, NOTHING);
    }
  }

  #hear({ kind, call: id, payload }: Frame): void {
    const call = this.#calls.get(id);
    switch (kind) {
      case FROM_HOLDER.ready:
        this.#settle();
        return this.#ready?.resolve();
      case FROM_HOLDER.failed:
        return this.#ready?.reject(describeFailure(payload.toString()));
      case FROM_HOLDER.stdout:
        return call?.listener.onOutput('stdout', payload);
      case FROM_HOLDER.stderr:
        return call?.listener.onOutput('stderr', payload);
      case FROM_HOLDER.report:
        return call?.listener.onReport(payload.toString('latin1'));
      case FROM_HOLDER.taken:
        if (call) {
          call.outstanding -= requireNumber(payload).readUInt32LE(0);
          this.#feed(id, call);
        }
        return;
      case FROM_HOLDER.done:
        this.#calls.delete(id);
        this.#settle();
        return call?.listener.onDone(readDone(payload));
      case FROM_HOLDER.file: {
        const resolve = this.#files.get(id);
        const errno = requireNumber(payload).readInt32LE(0);
        this.#files.delete(id);
        this.#settle();
        return resolve?.({ errno, bytes: payload.subarray(4) });
      }
    }
  }

  #lose(): void {
    this.isGone = true;
    this.#ready?.reject(
      new SandboxError('start_failed', 'The sandbox ended before it was ready', {
        hint: 'Run assay doctor',
      }),
    );
    for (const { listener } of this.#calls.values()) listener.onLost();
    this.#calls.clear();
    for (const resolve of this.#files.values()) resolve(undefined);
    this.#files.clear();
  }
}

const MAX_NUMBER = 2 ** 31 - 1;

function toBytes(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(Math.min(number, MAX_NUMBER));
  return bytes;
}

export function makeGone(): SandboxError {
  return new SandboxError('gone', 'The sandbox has been disposed of');
}

function requireNumber(payload: Buffer): Buffer {
  if (payload.length < 4) throw breach('a number is missing');
  return payload;
}

function readDone(payload: Buffer): CallDone {
  const number = (index: number): bigint =>
    payload.length >= (index + 1) * 8 ? payload.readBigUInt64LE(index * 8) : -1n;
  return {
    free: {
      workBlocks: number(0),
      workInodes: number(1),
      tmpBlocks: number(2),
      tmpInodes: number(3),
    },
  };
}

interface Failure {
  readonly failed: string;
  readonly what: string;
  readonly errno: number;
}

function readFailure(line: string): Failure {
  try {
    const { failed, what, errno } = JSON.parse(line) as Failure;
    return { failed, what, errno };
  } catch {
    throw breach('why it could not be set up');
  }
}

function describeFailure(line: string): SandboxError {
  const { failed, what, errno } = readFailure(line);
  const why = errno ? `: ${describeErrno(errno)}` : '';
  return new SandboxError(
    failed === 'workspace' ? 'path_invalid' : 'start_failed',
    `Cannot set up the sandbox: ${failed}: ${what}${why}`,
  );
}
