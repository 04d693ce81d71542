import { askBytes, askText, decode, encode, send } from './host.ts';

/** As `node:fs`, as far as programs without an operating system use it. */

const MESSAGES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  EINVAL: 'invalid argument',
  ENAMETOOLONG: 'name too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
};

interface FileFailure extends Error {
  code?: string;
  syscall?: string;
  path?: string;
}

function tryOn<T>(syscall: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const { message: code } = cause as Error;
    if (!/^E[A-Z0-9]+$/.test(code)) throw cause;
    const text = `${code}: ${MESSAGES[code] ?? 'failed'}, ${syscall} '${path}'`;
    const failure: FileFailure = new Error(text);
    throw Object.assign(failure, { code, syscall, path });
  }
}

type PathLike = string | { readonly href?: string };
type Encoding = string | { readonly encoding?: string | null } | null | undefined;

function toPath(path: PathLike): string {
  if (typeof path === 'string') return path;
  const { href = '' } = path;
  return href.replace(/^file:\/\//, '');
}

function encodingOf(options: Encoding): string | undefined {
  const name = typeof options === 'string' ? options : options?.encoding;
  return name ?? undefined;
}

function toBytes(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return encode(String(data));
}

type Kind = 'file' | 'directory' | 'link';

class Stats {
  readonly size: number;
  readonly ino: number;
  readonly mtimeMs: number;
  readonly mtime: Date;
  readonly #kind: Kind;

  constructor(stat: { kind: Kind; sizeBytes: number; ino: number; modifiedMs: number }) {
    this.size = stat.sizeBytes;
    this.ino = stat.ino;
    this.mtimeMs = stat.modifiedMs;
    this.mtime = new Date(stat.modifiedMs);
    this.#kind = stat.kind;
  }

  isFile(): boolean {
    return this.#kind === 'file';
  }

  isDirectory(): boolean {
    return this.#kind === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.#kind === 'link';
  }
}

class Dirent {
  readonly name: string;
  readonly parentPath: string;
  readonly #kind: Kind;

  constructor(name: string, kind: Kind, parentPath: string) {
    this.name = name;
    this.parentPath = parentPath;
    this.#kind = kind;
  }

  isFile(): boolean {
    return this.#kind === 'file';
  }

  isDirectory(): boolean {
    return this.#kind === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.#kind === 'link';
  }
}

function stat(op: 'stat' | 'lstat', path: PathLike): Stats {
  const name = toPath(path);
  return tryOn(op, name, () => new Stats(JSON.parse(askText(op, [name]))));
}

function readFileSync(path: PathLike | 0, options?: Encoding): string | Uint8Array {
  const bytes =
    path === 0 ? readStdin() : tryOn('open', toPath(path), () => askBytes('read', [toPath(path)]));
  return encodingOf(options) === undefined ? bytes : decode(bytes);
}

export function readStdin(): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = askBytes('stdin', [1 << 16]);
    if (piece.length === 0) break;
    pieces.push(piece);
  }
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function writeTo(op: 'write' | 'append', path: PathLike | number, data: unknown): void {
  if (typeof path === 'number') return send(path === 2 ? 'stderr' : 'stdout', '[]', toBytes(data));
  const name = toPath(path);
  tryOn('open', name, () => askText(op, [name], toBytes(data)));
}

function mkdirSync(path: PathLike, options?: { readonly recursive?: boolean }): void {
  const name = toPath(path);
  if (!options?.recursive) {
    tryOn('mkdir', name, () => askText('mkdir', [name]));
    return;
  }
  const parts = name.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const part = parts.slice(0, count).join('/');
    if (part !== '' && !existsSync(part)) tryOn('mkdir', part, () => askText('mkdir', [part]));
  }
  if (!stat('stat', name).isDirectory()) tryOn('mkdir', name, () => askText('mkdir', [name]));
}

function existsSync(path: PathLike): boolean {
  try {
    stat('stat', path);
    return true;
  } catch {
    return false;
  }
}

function readdirSync(
  path: PathLike,
  options?: { readonly withFileTypes?: boolean; readonly recursive?: boolean },
): (string | Dirent)[] {
  const name = toPath(path);
  const entries = tryOn(
    'scandir',
    name,
    () => JSON.parse(askText('list', [name])) as [string, Kind][],
  );
  const sorted = entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.flatMap(([entry, kind]) => {
    const own = options?.withFileTypes ? new Dirent(entry, kind, name) : entry;
    if (!options?.recursive || kind !== 'directory') return [own];
    const below = readdirSync(`${name}/${entry}`, options);
    return [own, ...below.map((item) => (typeof item === 'string' ? `${entry}/${item}` : item))];
  });
}

function listNames(path: string): string[] {
  return readdirSync(path).filter((entry) => typeof entry === 'string');
}

function rmSync(
  path: PathLike,
  options: { readonly recursive?: boolean; readonly force?: boolean } = {},
): void {
  const name = toPath(path);
  if (options.force && !existsSync(name)) return;
  const isDirectory = stat('lstat', name).isDirectory();
  if (isDirectory && options.recursive)
    for (const entry of listNames(name)) rmSync(`${name}/${entry}`, options);
  tryOn('rm', name, () => askText(isDirectory && options.recursive ? 'rmdir' : 'unlink', [name]));
}

function onTwo(op: string, from: PathLike, to: PathLike): void {
  tryOn(op, toPath(from), () => askText(op, [toPath(from), toPath(to)]));
}

export const files = {
  readFileSync,
  writeFileSync: (path: PathLike | number, data: unknown): void => writeTo('write', path, data),
  appendFileSync: (path: PathLike | number, data: unknown): void => writeTo('append', path, data),
  writeSync: (fd: number, data: unknown): void => writeTo('write', fd, data),
  existsSync,
  statSync: (path: PathLike): Stats => stat('stat', path),
  lstatSync: (path: PathLike): Stats => stat('lstat', path),
  readdirSync,
  mkdirSync,
  rmSync,
  unlinkSync: (path: PathLike): void =>
    void tryOn('unlink', toPath(path), () => askText('unlink', [toPath(path)])),
  rmdirSync: (path: PathLike): void =>
    void tryOn('rmdir', toPath(path), () => askText('rmdir', [toPath(path)])),
  renameSync: (from: PathLike, to: PathLike): void => onTwo('rename', from, to),
  symlinkSync: (target: PathLike, path: PathLike): void => onTwo('symlink', target, path),
  readlinkSync: (path: PathLike): string =>
    tryOn(
      'readlink',
      toPath(path),
      () => JSON.parse(askText('readlink', [toPath(path)])) as string,
    ),
  copyFileSync: (from: PathLike, to: PathLike): void =>
    writeTo('write', to, readFileSync(from) as Uint8Array),
};

type Callable = (...args: never[]) => unknown;

/** Everything that ends in `Sync`, as a promise under the name without it. */
export const promises = Object.fromEntries(
  Object.entries(files)
    .filter(([name]) => name.endsWith('Sync') && name !== 'existsSync' && name !== 'writeSync')
    .map(([name, act]) => [
      name.slice(0, -'Sync'.length),
      // oxlint-disable-next-line require-await -- what it throws is to reject
      async (...args: never[]) => (act as Callable)(...args),
    ]),
);
