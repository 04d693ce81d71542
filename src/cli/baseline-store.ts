import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { toPrintable } from '../core/printable.ts';
import { BUNDLE_LIMITS } from '../evidence/bundle/limits.ts';
import { readBundleFile } from './bundle-file.ts';
import { makeDirectory } from './make-directory.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const MAX_KEY_BYTES = 200;

/** Bundles to compare with, a file each in one directory. */
export class BaselineStore {
  readonly #directory: string;
  readonly #key: string;

  constructor(directory: string, key: string) {
    checkKey(key);
    this.#directory = directory;
    this.#key = key;
  }

  get path(): string {
    return join(this.#directory, `${this.#key}.tar.gz`);
  }

  /** The stored bundle, to be read. */
  find(): string {
    if (existsSync(this.path)) return this.path;
    throw new AssayError('E_USAGE', `There is no baseline "${this.#key}" in "${this.#directory}"`, {
      hint: 'Store one with --write-baseline',
    });
  }

  /**
   * Stores a bundle. What is checked is the very copy that is kept, so nothing can be put in its place in between; the
   * old baseline stays until the new one is complete.
   */
  async store(
    source: string,
    options: { mayReplace: boolean; check: (path: string) => Promise<void> },
  ): Promise<void> {
    if (!options.mayReplace && existsSync(this.path)) throw this.#refuseExisting();
    const partial = join(this.#directory, `.${this.#key}.${Math.random().toString(36).slice(2)}`);
    this.#makeDirectory();
    try {
      await this.#copy(source, partial);
      await options.check(partial);
      if (options.mayReplace) renameSync(partial, this.path);
      else this.#linkNew(partial);
    } finally {
      rmSync(partial, { force: true });
    }
  }

  #makeDirectory(): void {
    try {
      makeDirectory(resolve(this.#directory));
    } catch (cause) {
      throw this.#refuseWriting(cause);
    }
  }

  async #copy(source: string, partial: string): Promise<void> {
    const fd = this.#open(partial);
    let bytes = 0;
    try {
      for await (const chunk of readBundleFile(source)) {
        this.#append(fd, chunk);
        bytes += chunk.length;
        // What is longer than any bundle is refused when it is checked; there is no use in the rest of it.
        if (bytes > BUNDLE_LIMITS.bundleBytes) break;
      }
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  #append(fd: number, chunk: Uint8Array): void {
    try {
      for (let done = 0; done < chunk.length;) done += writeSync(fd, chunk, done);
    } catch (cause) {
      throw this.#refuseWriting(cause);
    }
  }

  #open(partial: string): number {
    try {
      return openSync(partial, NEW_FILE, 0o644);
    } catch (cause) {
      throw this.#refuseWriting(cause);
    }
  }

  /** A link, unlike a rename, does not replace what somebody else has stored meanwhile. */
  #linkNew(partial: string): void {
    try {
      linkSync(partial, this.path);
    } catch (cause) {
      throw (cause as NodeJS.ErrnoException).code === 'EEXIST'
        ? this.#refuseExisting()
        : this.#refuseWriting(cause);
    }
  }

  #refuseExisting(): AssayError {
    return new AssayError('E_USAGE', `There is a baseline already: "${this.path}"`, {
      hint: 'Replace it with --update-baseline, or choose another --key',
    });
  }

  #refuseWriting(cause: unknown): AssayError {
    return new AssayError(
      'E_USAGE',
      `Cannot store a baseline in "${this.#directory}": ${(cause as Error).message}`,
      { hint: 'Name a directory that is yours to write', cause },
    );
  }
}

function checkKey(key: string): void {
  const reason = findKeyProblem(key);
  if (reason === undefined) return;
  throw new AssayError('E_USAGE', `--key cannot be "${toPrintable(key)}": it ${reason}`, {
    hint: 'A key is one plain file name, such as main or nightly-build',
  });
}

function findKeyProblem(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (/[/\\]/.test(key)) return 'holds a separator';
  if (key.includes('..')) return 'holds two dots';
  if (key.startsWith('.')) return 'starts with a dot';
  if (toPrintable(key) !== key) return 'holds a character that cannot be shown';
  return Buffer.byteLength(key) > MAX_KEY_BYTES ? 'is too long' : undefined;
}
