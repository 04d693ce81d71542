import { concatBytes } from '../../core/bytes.ts';

/** Chunks one after the other, of which some can be put back. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #kept: Uint8Array | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Some bytes; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept && kept.length > 0) return kept;
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      if (next.value.length > 0) return next.value;
    }
  }

  /** For what was read too much. */
  unread(bytes: Uint8Array): void {
    this.#kept = bytes;
  }

  /** Exactly so many bytes; undefined when there are fewer. */
  async readExactly(length: number): Promise<Uint8Array | undefined> {
    let bytes: Uint8Array = new Uint8Array(0);
    while (bytes.length < length) {
      const chunk = await this.read();
      if (!chunk) return undefined;
      bytes = bytes.length === 0 ? chunk : concatBytes([bytes, chunk]);
    }
    this.unread(bytes.subarray(length));
    return bytes.subarray(0, length);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
