import { decodeName } from '../../core/name-bytes.ts';
import { describeErrno, nameErrno } from '../../launch/errno.ts';
import { SandboxError, type SandboxErrorCode } from '../sandbox-error.ts';
import type { SandboxFs, SandboxStat } from '../sandbox.ts';
import { toEntryPath, toWorkspacePath } from '../workspace-path.ts';
import { breach } from './frames.ts';
import type { Holder } from './holder.ts';

/** The letters of native/inside.c. */
const OP = {
  read: 'r',
  write: 'w',
  append: 'a',
  mkdir: 'm',
  list: 'l',
  stat: 's',
  remove: 'd',
  rename: 'n',
  link: 'y',
  tree: 't',
  states: 'S',
  below: 'b',
  code: 'c',
  hold: 'h',
} as const;

const CHUNK_BYTES = 4 * 1024 * 1024;

/** As the kernel says it, and as it is said here. */
const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'not_found',
  EXDEV: 'path_denied',
  ELOOP: 'path_denied',
  EACCES: 'path_denied',
  EPERM: 'path_denied',
  EROFS: 'path_denied',
  ENOSPC: 'path_denied',
  EDQUOT: 'path_denied',
  EFBIG: 'path_denied',
  ENXIO: 'path_invalid',
};

const KINDS: Readonly<Record<string, SandboxStat['kind']>> = { f: 'file', d: 'directory' };

/** A file or directory of the workspace, and how to tell that it has changed. */
export interface TreeEntry {
  /** As `FileChange` has it. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Another one, when it is another file or was changed. */
  readonly mark: string;
}

/** How what is at a path inside is. */
export interface InsideState {
  readonly isLink: boolean;
  readonly isDirectory: boolean;
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** A directory inside. */
export interface InsideListing {
  /** As bytes: names need not be text. */
  readonly entries: readonly { readonly name: Buffer; readonly isDirectory: boolean }[];
  /** False when it may not be read, or there is more in it. */
  readonly isWhole: boolean;
}

/** The files of a sandbox, as its holder sees them: no link leads it out of the workspace. */
export class LocalFiles implements SandboxFs {
  readonly #holder: Holder;

  constructor(holder: Holder) {
    this.#holder = holder;
  }

  async readFile(path: string, options: { readonly maxBytes?: number | undefined } = {}) {
    const entry = toEntryPath(path);
    const { maxBytes = Number.MAX_SAFE_INTEGER } = options;
    const pieces: Buffer[] = [];
    for (let done = 0; done < maxBytes;) {
      const number = Math.min(CHUNK_BYTES, maxBytes - done);
      const piece = await this.#ask(OP.read, entry, { number, rest: String(done) });
      pieces.push(piece);
      done += piece.length;
      if (piece.length < number) break;
    }
    return Buffer.concat(pieces);
  }

  async writeFile(path: string, data: string | Uint8Array): Promise<void> {
    await this.writeWithMode(path, typeof data === 'string' ? Buffer.from(data) : data, 0o666);
  }

  async writeWithMode(path: string, data: Uint8Array, mode: number): Promise<void> {
    const entry = toEntryPath(path);
    await this.#ask(OP.write, entry, { number: mode, rest: data.subarray(0, CHUNK_BYTES) });
    for (let at = CHUNK_BYTES; at < data.length; at += CHUNK_BYTES)
      await this.#ask(OP.append, entry, {
        number: mode,
        rest: data.subarray(at, at + CHUNK_BYTES),
      });
  }

  async mkdir(path: string): Promise<void> {
    await this.#ask(OP.mkdir, toEntryPath(path));
  }

  async readdir(path: string): Promise<readonly string[]> {
    const reader = new AnswerReader(await this.#ask(OP.list, toWorkspacePath(path)));
    const names: string[] = [];
    while (reader.hasMore) {
      const kind = reader.letter();
      const name = reader.text();
      names.push(kind === 'd' ? `${name}/` : name);
    }
    return names;
  }

  async stat(path: string): Promise<SandboxStat> {
    const reader = new AnswerReader(await this.#ask(OP.stat, toWorkspacePath(path)));
    const kind = KINDS[reader.letter()] ?? 'other';
    const [sizeBytes = 0] = reader.numbers(1).map(Number);
    return { kind, sizeBytes };
  }

  async rm(path: string): Promise<void> {
    await this.#ask(OP.remove, toEntryPath(path));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#ask(OP.rename, toEntryPath(from), { rest: toEntryPath(to) });
  }

  async link(path: string, target: string): Promise<void> {
    await this.#ask(OP.link, toEntryPath(path), { rest: target });
  }

  /** Code that programs can read and not change; its path inside. */
  async putCode(name: string, code: Uint8Array): Promise<string> {
    await this.#ask(OP.code, name, { rest: code });
    return toCodePath(name);
  }

  /** Whoever opens code of this name waits until it is put there, or does no longer. */
  async holdCode(name: string, isHeld: boolean): Promise<void> {
    await this.#ask(OP.hold, name, { number: isHeld ? 1 : 0 });
  }

  async listTree({ hasDigests }: { readonly hasDigests: boolean }): Promise<TreeEntry[]> {
    const answer = await this.#ask(OP.tree, '', { number: hasDigests ? 1 : 0 });
    const reader = new AnswerReader(answer);
    const entries: TreeEntry[] = [];
    const kinds = { f: 'file', d: 'directory', l: 'link' } as const;
    while (reader.hasMore) {
      const kind = kinds[reader.letter() as keyof typeof kinds] ?? 'other';
      const numbers = reader.numbers(4);
      const sha256 = reader.text();
      const path = decodeName(reader.bytes().toString('latin1'));
      // What was looked into has changed in no way.
      const mark = kind === 'directory' ? String(numbers[1]) : numbers.join(' ');
      entries.push({ path, kind, sizeBytes: Number(numbers[0]), sha256, mark });
    }
    return entries;
  }

  /** How whole paths inside are: null where nothing is. */
  async readStates(paths: readonly Buffer[]): Promise<(InsideState | 'unknown' | null)[]> {
    const reader = await this.#askWhole(OP.states, paths);
    return paths.map(() => {
      const kind = reader.letter();
      const [dev = '', ino = '', size, mtimeNs = '', ctimeNs = ''] = reader.numbers(5).map(String);
      if (kind === '-') return null;
      if (kind === '?') return 'unknown';
      return {
        isLink: kind === 'l',
        isDirectory: kind === 'd',
        dev,
        ino,
        size: Number(size),
        mtimeNs,
        ctimeNs,
      };
    });
  }

  /** What is in directories, by their whole paths inside; nothing where there is none. */
  async listDirectories(paths: readonly Buffer[]): Promise<InsideListing[]> {
    const reader = await this.#askWhole(OP.below, paths);
    return paths.map(() => {
      const entries: { name: Buffer; isDirectory: boolean }[] = [];
      let kind = reader.letter();
      for (; kind !== '.' && kind !== '?'; kind = reader.letter())
        entries.push({ name: reader.bytes(), isDirectory: kind === 'd' });
      return { entries, isWhole: kind === '.' };
    });
  }

  async #askWhole(op: string, paths: readonly Buffer[]): Promise<AnswerReader> {
    if (paths.length === 0) return new AnswerReader(Buffer.alloc(0));
    const rest = Buffer.concat(paths.flatMap((path) => [path, Buffer.from('\0')]));
    return new AnswerReader(await this.#ask(op, '', { rest: rest.subarray(0, -1) }));
  }

  async #ask(
    op: string,
    path: string,
    {
      number = 0,
      rest = '',
    }: { readonly number?: number; readonly rest?: string | Uint8Array } = {},
  ): Promise<Buffer> {
    const name = Buffer.from(path);
    const head = Buffer.alloc(16);
    head.writeUInt32LE(op.charCodeAt(0), 0);
    head.writeUInt32LE(name.length, 4);
    head.writeBigUInt64LE(BigInt(number), 8);
    const end = Buffer.from('\0');
    const body = typeof rest === 'string' ? Buffer.from(rest) : rest;
    const answer = await this.#holder.askFile(Buffer.concat([head, name, end, body, end]));
    if (answer.errno !== 0) throw toError(answer.errno, path);
    return answer.bytes;
  }
}

export function toCodePath(name: string): string {
  return `/run/code/${name}`;
}

function toError(errno: number, path: string): SandboxError {
  const name = nameErrno(errno) ?? '';
  const code = CODES[name] ?? 'path_invalid';
  if (name === 'ENOSPC' || name === 'EDQUOT')
    return new SandboxError(code, `Cannot write "${path}": there is no room left in the sandbox`, {
      hint: 'Allow more by limits.diskBytes, or hand over less',
    });
  return new SandboxError(code, `Cannot use "${path}": ${describeErrno(errno)}`);
}

class AnswerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  letter(): string {
    return this.#take(1).toString('latin1');
  }

  numbers(count: number): bigint[] {
    const bytes = this.#take(count * 8);
    return Array.from({ length: count }, (_, index) => bytes.readBigUInt64LE(index * 8));
  }

  bytes(): Buffer {
    return this.#take(this.#take(4).readUInt32LE());
  }

  #take(count: number): Buffer {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw breach('an answer that is cut short');
    return this.#bytes.subarray(start, this.#at);
  }

  text(): string {
    return this.bytes().toString();
  }
}
