import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHUNK_BYTES = 256 * 1024;

/** A file without a name, for what is too much to be in memory. It is gone when it is closed, or when assay ends. */
export class SpoolFile {
  readonly #fd: number;

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'assay-export-'));
    try {
      this.#fd = openSync(join(directory, 'spool'), 'wx+', 0o600);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  write(chunk: Uint8Array): void {
    for (let done = 0; done < chunk.length;) done += writeSync(this.#fd, chunk, done);
  }

  /** All of it, from the start, as often as wanted. */
  *read(): Iterable<Uint8Array> {
    for (let at = 0; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const got = readSync(this.#fd, chunk, 0, CHUNK_BYTES, at);
      if (got === 0) return;
      at += got;
      yield chunk.subarray(0, got);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}
