import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_IN_MEMORY = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * The bytes of a bundle to be read twice: once to see whether it is good, once to show it. A pipe can be read once
 * only, and a file may be another one the second time, so a copy is kept: what is shown is what was verified.
 */
export class KeptBundle {
  #memory: Uint8Array[] = [];
  #bytes = 0;
  #fd: number | undefined;

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_IN_MEMORY) this.#memory.push(chunk);
    else writeSync(this.#spool(), chunk);
  }

  /** From the start, as often as wanted. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    yield* this.#memory;
    if (this.#fd === undefined) return;
    const options = { fd: this.#fd, start: 0, autoClose: false, highWaterMark: CHUNK_BYTES };
    for await (const chunk of createReadStream('', options)) yield chunk as Uint8Array;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#memory = [];
  }

  /** Without a name from the start, so that nothing stays behind, however this ends. */
  #spool(): number {
    if (this.#fd !== undefined) return this.#fd;
    const directory = mkdtempSync(join(tmpdir(), 'assay-show-'));
    try {
      this.#fd = openSync(join(directory, 'rest'), 'wx+', 0o600);
    } finally {
      rmSync(directory, { recursive: true });
    }
    return this.#fd;
  }
}
