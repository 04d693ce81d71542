import { crc32, createDeflateRaw, createInflateRaw, type InflateRaw } from 'node:zlib';

export { crc32 };

/** At most a thousand times as much comes out at once. */
const STEP_BYTES = 16 * 1024;
const OUTPUT_BYTES = 128 * 1024;

export interface InflateStep {
  readonly output: readonly Uint8Array[];
  /** How many it took. */
  readonly bytes: number;
  /** Once the stream has ended: what comes after it in the bytes that were given. */
  readonly rest?: Uint8Array | undefined;
}

/** Takes a raw deflate stream apart, and says where it ends: what follows is nobody's business but the caller's. */
export class Inflater {
  readonly #zlib: InflateRaw = createInflateRaw({ chunkSize: OUTPUT_BYTES });
  #output: Uint8Array[] = [];
  #hasEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor() {
    this.#zlib.on('data', (piece: Uint8Array) => this.#output.push(piece));
    this.#zlib.on('end', () => {
      this.#hasEnded = true;
      this.#wake?.();
    });
    this.#zlib.on('error', (error) => {
      this.#error = error;
      this.#wake?.();
    });
  }

  /** Throws what zlib says of bytes that are no deflate stream. */
  async *push(bytes: Uint8Array): AsyncGenerator<InflateStep> {
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      const step = bytes.subarray(at, at + STEP_BYTES);
      const before = this.#zlib.bytesWritten;
      // When the stream ends within the step, only the end is reported.
      await this.#run((done) => this.#zlib.write(step, done));
      const output = this.#takeOutput();
      const took = this.#zlib.bytesWritten - before;
      if (this.#hasEnded) {
        yield { output, bytes: took, rest: bytes.subarray(at + took) };
        return;
      }
      yield { output, bytes: took };
    }
  }

  /** When there are no more bytes; throws when the stream has not ended. */
  async finish(): Promise<InflateStep> {
    await this.#run(() => this.#zlib.end());
    return { output: this.#takeOutput(), bytes: 0 };
  }

  close(): void {
    this.#zlib.destroy();
  }

  async #run(start: (done: () => void) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      start(resolve);
    });
    if (this.#error) throw this.#error;
  }

  #takeOutput(): Uint8Array[] {
    const output = this.#output;
    this.#output = [];
    return output;
  }
}

/** A raw deflate stream of all chunks, as small as zlib can make it. */
export async function* deflateRaw(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const zlib = createDeflateRaw({ level: 9, chunkSize: OUTPUT_BYTES });
  const output: Uint8Array[] = [];
  zlib.on('data', (piece: Uint8Array) => output.push(piece));
  const failed = new Promise<never>((_, reject) => {
    zlib.once('error', reject);
  });
  // Whoever waits below gets it; without a wait it must not end the process.
  failed.catch(() => undefined);
  try {
    for await (const chunk of chunks) {
      await Promise.race([failed, new Promise((resolve) => zlib.write(chunk, resolve))]);
      yield* output.splice(0);
    }
    await Promise.race([
      failed,
      new Promise((resolve) => {
        zlib.once('end', resolve);
        zlib.end();
      }),
    ]);
    yield* output;
  } finally {
    zlib.destroy();
  }
}
