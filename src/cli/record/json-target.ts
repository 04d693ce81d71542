import { toPrintableJson } from '../../core/printable.ts';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AssayError } from '../../core/errors.ts';

/** Where `--json` writes: one object a line, each at once. */
export class JsonTarget {
  /** The file, if it is one, without links on the way. */
  readonly path: string | undefined;
  readonly #fd: number;
  #problem: string | undefined;

  constructor(fd: number, path?: string) {
    this.#fd = fd;
    this.path = path;
  }

  /** Why lines are missing; the program inside has nothing to do with that, and goes on. */
  get problem(): string | undefined {
    return this.#problem;
  }

  write(line: object): void {
    if (this.#problem !== undefined) return;
    try {
      writeAll(this.#fd, line);
    } catch (cause) {
      this.#problem = `Cannot write to the target of --json: ${(cause as Error).message}`;
    }
  }
}

/**
 * Tried before the run, so that a target that cannot be written is an error before anything has happened. A file is
 * made under another name and put in place by way of its directory: whatever was there, a link included, is not written
 * through.
 */
export function openJsonTarget(target: string): JsonTarget {
  try {
    if (target === '-') return toDescriptor(2);
    if (target.startsWith('fd:')) return toDescriptor(readNumber(target));
    return isOther(target) ? toOther(target) : toFile(target);
  } catch (cause) {
    throw new AssayError('E_USAGE', `Cannot write to "${target}": ${(cause as Error).message}`, {
      hint: 'Name a file, fd:N for an open descriptor, or - for standard error',
      cause,
    });
  }
}

function readNumber(target: string): number {
  const number = /^fd:(\d{1,9})$/.exec(target)?.[1];
  if (number === undefined) throw new Error('fd: wants the number of a descriptor');
  return Number(number);
}

function toDescriptor(fd: number): JsonTarget {
  fstatSync(fd);
  if (isOurs(fd)) throw new Error('no such descriptor was given');
  if (readMode(fd) === constants.O_RDONLY) throw new Error('it is open for reading only');
  return new JsonTarget(fd);
}

/** What this process has opened for itself: things without a name, and pipes of which it holds both ends. */
function isOurs(fd: number): boolean {
  const link = findLink(String(fd));
  if (!link.startsWith('pipe:')) return link.startsWith('anon_inode:');
  const ends = readdirSync('/proc/self/fd').filter((name) => findLink(name) === link);
  return new Set(ends.map((name) => readMode(Number(name)))).size > 1;
}

function findLink(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return ''; // the list was read by one that is closed by now
  }
}

function readMode(fd: number): number {
  const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
  return Number.parseInt(flags ?? '', 8) & (constants.O_WRONLY | constants.O_RDWR);
}

/** A device or a pipe, and whatever stands in /dev: a file in its place would be the end of it. */
function isOther(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new Error('it is a directory');
  if (realpathSync(dirname(path)) === '/dev') return true;
  if (!found || found.isFile()) return false;
  if (lstatSync(path).isSymbolicLink())
    throw new Error('it is a link to something that is no file');
  return true;
}

function toOther(path: string): JsonTarget {
  const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;
  return new JsonTarget(openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY));
}

function toFile(path: string): JsonTarget {
  const directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  const at = (name: string): string => `/proc/self/fd/${directory}/${name}`;
  const partial = `.${basename(path)}.${process.pid}`;
  const isNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
  const fd = openSync(at(partial), isNew, 0o600);
  try {
    renameSync(at(partial), at(basename(path)));
  } catch (error) {
    unlinkSync(at(partial));
    throw error;
  }
  const real = readlinkSync(`/proc/self/fd/${directory}`);
  closeSync(directory);
  return new JsonTarget(fd, join(real, basename(path)));
}

function writeAll(fd: number, line: object): void {
  const bytes = Buffer.from(`${toPrintableJson(line)}\n`);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (cause) {
      // A pipe in non-blocking mode that is full: whoever reads it sets the pace.
      if ((cause as NodeJS.ErrnoException).code !== 'EAGAIN') throw cause;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
