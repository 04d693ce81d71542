import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { AssayError } from '../core/errors.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * A file to be written later, by way of its directory as it is now: a program that runs meanwhile may move that, or put
 * a link where the file is to be. The old file stays until the new one is complete.
 */
export class AtomicFile {
  readonly path: string;
  readonly #directory: number;
  /** Not to be guessed by a program that would be there first. */
  readonly #mark = Math.random().toString(36).slice(2);

  /** Tries whether the file can be made at all; `what` names it in the error. */
  constructor(path: string, what: string) {
    this.path = path;
    try {
      this.#directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
      refuseOther(path);
      closeSync(openSync(this.#partial, NEW_FILE, 0o600));
      unlinkSync(this.#partial);
    } catch (cause) {
      throw new AssayError(
        'E_USAGE',
        `Cannot write ${what} to "${path}": ${(cause as Error).message}`,
        { hint: 'Name a file in a directory that exists and is yours to write', cause },
      );
    }
  }

  get #partial(): string {
    return this.#at(`.${basename(this.path)}.${this.#mark}`);
  }

  #at(name: string): string {
    return `/proc/self/fd/${this.#directory}/${name}`;
  }

  /** Piece by piece, so that a long text need not be in memory as a whole. */
  write(pieces: Iterable<string>): void {
    const fd = this.#openPartial(NEW_FILE);
    try {
      for (const piece of pieces) writeWhole(fd, Buffer.from(piece));
      this.#settle(fd);
    } catch (error) {
      this.#whileOpen(() => unlinkSync(this.#partial));
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  /** The same for pieces that come in their own time. */
  async writeStream(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const fd = this.#openPartial(NEW_FILE);
    try {
      for await (const piece of pieces) writeWhole(fd, piece);
      this.#settle(fd);
    } catch (error) {
      this.#whileOpen(() => unlinkSync(this.#partial));
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  /** A file beside it that has no name, to write to and to read back; whoever opens it closes it. */
  openScratch(): number {
    const fd = this.#openPartial(constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
    this.#whileOpen(() => unlinkSync(this.#partial));
    return fd;
  }

  #openPartial(flags: number): number {
    return this.#whileOpen(() => openSync(this.#partial, flags, 0o600));
  }

  #settle(fd: number): void {
    fsyncSync(fd);
    this.#whileOpen(() => renameSync(this.#partial, this.#at(basename(this.path))));
    fsyncSync(this.#directory);
  }

  /** The program may have shut a directory of the user. It stays so, but for the moment in which a name is changed. */
  #whileOpen<T>(change: () => T): T {
    if (this.#isOpen()) return change();
    const mode = fstatSync(this.#directory).mode & 0o7777;
    fchmodSync(this.#directory, mode | 0o300);
    try {
      return change();
    } finally {
      fchmodSync(this.#directory, mode);
    }
  }

  #isOpen(): boolean {
    try {
      accessSync(this.#at('.'), constants.W_OK | constants.X_OK);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EACCES';
    }
  }

  close(): void {
    closeSync(this.#directory);
  }
}

/** A file in its place would be the end of a device: /dev/null, for whoever may write there. */
function refuseOther(path: string): void {
  // What a link leads to stays as it is, so a link is replaced; but /dev/stdout is one, too.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new Error('it is a directory');
  if (found?.isFile() === false) throw new Error('it is not a regular file');
}

/** A disk that is nearly full takes a part, and says so only when it is asked again. */
function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** Throws unless the file can be made; for who writes it later, and by itself. */
export function checkTarget(path: string, what: string): void {
  new AtomicFile(path, what).close();
}
