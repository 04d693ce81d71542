import { once } from 'node:events';
import { closeSync, createWriteStream, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { writeBundle, type EventSpool } from '../src/evidence/bundle/write-bundle.ts';
import { makeSampleDraft } from '../test/evidence/bundle/sample-run.ts';

const CHUNK_BYTES = 256 * 1024;

class FileSpool implements EventSpool {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  write(chunk: Uint8Array): void {
    writeSync(this.#fd, chunk);
  }

  *read(): Iterable<Uint8Array> {
    for (let at = 0; ;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const length = readSync(this.#fd, chunk, 0, CHUNK_BYTES, at);
      if (length === 0) return;
      at += length;
      yield chunk.subarray(0, length);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Writes a bundle of a made-up run that read so many files. */
export async function writeSample(path: string, fileCount: number): Promise<void> {
  const spool = new FileSpool(`${path}.spool`);
  const file = createWriteStream(path);
  try {
    const { archive } = writeBundle({ ...makeSampleDraft({ fileCount }), spool });
    for await (const chunk of archive) if (!file.write(chunk)) await once(file, 'drain');
    file.end();
    await finished(file);
  } finally {
    spool.close();
  }
}
