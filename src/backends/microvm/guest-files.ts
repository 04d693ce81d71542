import { constants } from 'node:os';
import type { SandboxFs, SandboxStat } from '../sandbox.ts';
import { SandboxError, type SandboxErrorCode } from '../sandbox-error.ts';
import { toWorkspacePath } from '../workspace-path.ts';
import { breach } from './frames.ts';
import { type GuestLink, GuestRefusal } from './guest-link.ts';
import { decodeEntries, encodeFileRequest, type Entry, type FileRequest } from './messages.ts';

const PART_BYTES = 128 * 1024;
const CODE = '/run/code';

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'not_found',
  EXDEV: 'path_denied',
  ELOOP: 'path_denied',
  EACCES: 'path_denied',
  EPERM: 'path_denied',
  EROFS: 'path_denied',
  EBUSY: 'path_denied',
  EISDIR: 'path_invalid',
  EINVAL: 'path_invalid',
  EEXIST: 'path_invalid',
  ENOTEMPTY: 'path_invalid',
  ENAMETOOLONG: 'path_invalid',
  ENOSPC: 'path_denied',
};

/** What they mean here, where the usual words would mislead. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of it is not a directory',
  EXDEV: 'it leads out of /workspace',
  EROFS: 'it is read-only',
  ENOSPC: 'the limit on disk space or files is reached',
  EBUSY: 'it is the workspace itself',
  EINVAL: 'it is not a regular file',
  EISDIR: 'it is a directory',
};

export function nameErrno(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `E${errno}`;
}

function explain(error: unknown, path: string): unknown {
  if (!(error instanceof GuestRefusal)) return error;
  const name = nameErrno(error.errno);
  return new SandboxError(
    CODES[name] ?? 'engine_failed',
    `Cannot use ${JSON.stringify(path)}: ${REASONS[name] ?? name}`,
    { cause: error },
  );
}

export interface GuestFilesOptions {
  readonly link: GuestLink;
  /** No more than this is ever read of one file or listed of one directory: what a guest says is not to be believed. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** Files of the guest, by way of its agent, which follows no link out of the workspace. */
export class GuestFiles implements SandboxFs {
  readonly #link: GuestLink;
  readonly #maxBytes: number;
  readonly #maxEntries: number;

  constructor({ link, maxBytes, maxEntries }: GuestFilesOptions) {
    this.#link = link;
    this.#maxBytes = maxBytes;
    this.#maxEntries = maxEntries;
  }

  async readFile(
    path: string,
    options: { readonly maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array> {
    const { sizeBytes } = await this.stat(path);
    const most = Math.min(this.#maxBytes, options.maxBytes ?? this.#maxBytes);
    // Such as a file that is mostly holes.
    if (options.maxBytes === undefined && sizeBytes > most)
      throw new SandboxError(
        'path_invalid',
        `Cannot read ${JSON.stringify(path)}: ${sizeBytes} bytes are too many`,
        {
          hint: 'Give maxBytes',
        },
      );
    const parts: Buffer[] = [];
    for (let have = 0; have < most;) {
      const want = Math.min(PART_BYTES, most - have);
      const part = await this.#ask({
        op: 'read',
        path: toWorkspacePath(path),
        offset: have,
        arg: want,
      });
      if (part.length > want) throw breach('more of a file than was asked for');
      parts.push(part);
      have += part.length;
      if (part.length < want) break;
    }
    return Buffer.concat(parts);
  }

  async writeFile(path: string, data: string | Uint8Array): Promise<void> {
    await this.#write({ path: toWorkspacePath(path), arg: 0o644 }, toBytes(data));
  }

  /** A file of the host, with its mode, into the workspace. */
  async importFile(path: string, mode: number, data: Uint8Array): Promise<void> {
    await this.#write({ path, arg: (mode & 0o777) | 0o600 }, data);
  }

  async importLink(path: string, to: string): Promise<void> {
    await this.#ask({ op: 'link', path, to });
  }

  /** Puts code where only the agent can write. */
  async putCode(name: string, code: Uint8Array): Promise<string> {
    if (!/^[\w.-]{1,200}$/.test(name) || /^\.+$/.test(name))
      throw new SandboxError(
        'path_invalid',
        `Cannot use ${JSON.stringify(name)} as a name for code`,
      );
    await this.#write({ place: 'code', path: name, arg: 0o444 }, code);
    return `${CODE}/${name}`;
  }

  async mkdir(path: string): Promise<void> {
    await this.#ask({ op: 'mkdir', path: toWorkspacePath(path) });
  }

  async readdir(path: string): Promise<readonly string[]> {
    const entries = await this.list(toWorkspacePath(path));
    return entries.map(({ name, kind }) => (kind === 'directory' ? `${name}/` : name));
  }

  async list(inside: string | Buffer): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (;;) {
      const answer = await this.#ask({ op: 'list', path: inside, offset: entries.length });
      const part = decodeEntries(answer);
      if (part.length === 0) return entries;
      entries.push(...part);
      if (entries.length > this.#maxEntries) throw breach('more names than there can be');
    }
  }

  async digest(inside: string | Buffer): Promise<string> {
    const hex = (await this.#ask({ op: 'digest', path: inside })).toString('latin1');
    if (!/^[0-9a-f]{64}$/.test(hex)) throw breach('a digest that is none');
    return hex;
  }

  async stat(path: string): Promise<SandboxStat> {
    const [entry] = decodeEntries(await this.#ask({ op: 'stat', path: toWorkspacePath(path) }));
    if (!entry) throw breach('an answer without what was asked for');
    const { kind, sizeBytes } = entry;
    return { kind: kind === 'link' ? 'other' : kind, sizeBytes };
  }

  async rm(path: string): Promise<void> {
    await this.#ask({ op: 'remove', path: toWorkspacePath(path) });
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#ask({ op: 'rename', path: toWorkspacePath(from), to: toWorkspacePath(to) });
  }

  /** From here on nobody changes anything below `/workspace`, the agent included. */
  async seal(): Promise<void> {
    await this.#ask({ op: 'seal' });
  }

  async #write(request: Omit<FileRequest, 'op'>, data: Uint8Array): Promise<void> {
    let offset = 0;
    do {
      const part = data.subarray(offset, offset + PART_BYTES);
      await this.#ask({ ...request, op: 'write', isFirst: offset === 0, offset, data: part });
      offset += part.length;
    } while (offset < data.length);
  }

  async #ask(request: FileRequest): Promise<Buffer> {
    try {
      return await this.#link.request('files', encodeFileRequest(request));
    } catch (error) {
      throw explain(error, (request.path ?? '').toString());
    }
  }
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data) : data;
}
