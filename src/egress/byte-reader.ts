import type { Duplex } from 'node:stream';

/** What is kept unasked; a stream that has sent more waits. To let each wait between two reads costs system calls. */
const KEPT = 16_384;

/** Takes bytes from a stream as they are asked for. */
export class ByteReader {
  readonly stream: Duplex;
  bytes: Buffer = EMPTY;
  /** Nothing more comes: the other side has ended, or the stream is gone. */
  isEnded = false;
  isTimedOut = false;
  #wake: ((hasMore: boolean) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Duplex) {
    this.stream = stream;
    this.isEnded = stream.destroyed || stream.readableEnded;
    stream.on('data', this.#onData);
    stream.on('end', this.#onEnd);
    stream.on('close', this.#onEnd);
  }

  /** Waits for more; false when there is none. */
  async more(): Promise<boolean> {
    if (this.isEnded || this.isTimedOut) return false;
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.stream.isPaused()) this.stream.resume();
    });
  }

  /** Waits until there is something to take. */
  async some(): Promise<boolean> {
    return this.bytes.length > 0 || this.more();
  }

  take(count: number): Buffer {
    const taken = this.bytes.subarray(0, count);
    this.bytes = this.bytes.subarray(count);
    return taken;
  }

  /** Reads on without anybody waiting, to learn of the end; not while there is much to take, lest it grow. */
  watch(): void {
    if (!this.isEnded && this.bytes.length <= KEPT && this.stream.isPaused()) this.stream.resume();
  }

  /** From now on waiting ends after so long; 0 takes that back. */
  setDeadline(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (ms === 0) return;
    this.#timer = setTimeout(() => this.stop(), ms);
  }

  /** Nobody is to wait any longer. */
  stop(): void {
    this.isTimedOut = true;
    this.#rouse(false);
  }

  /** Leaves the stream to somebody else, who takes it up at once, with what was read already. */
  detach(): Buffer {
    this.setDeadline(0);
    this.stream.off('data', this.#onData);
    this.stream.off('end', this.#onEnd);
    this.stream.off('close', this.#onEnd);
    this.isEnded = true;
    this.#rouse(false);
    return this.take(this.bytes.length);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes = this.bytes.length === 0 ? chunk : Buffer.concat([this.bytes, chunk]);
    if (this.bytes.length > KEPT) this.stream.pause();
    this.#rouse(true);
  };

  readonly #onEnd = (): void => {
    this.isEnded = true;
    this.setDeadline(0);
    this.#rouse(false);
  };

  #rouse(hasMore: boolean): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(hasMore);
  }
}

const EMPTY = Buffer.alloc(0);

/** Writes, and waits while the stream has too much to send; false when it is gone. */
export async function send(stream: Duplex, bytes: Buffer | string): Promise<boolean> {
  if (!stream.writable) return false;
  if (stream.write(bytes)) return true;
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('drain', settle);
      stream.off('close', settle);
      resolve(stream.writable);
    };
    stream.on('drain', settle);
    stream.on('close', settle);
  });
}
