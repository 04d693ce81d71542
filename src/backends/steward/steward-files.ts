import { constants } from 'node:os';
import { SandboxError, type SandboxErrorCode } from '../sandbox-error.ts';
import type { SandboxFs, SandboxStat } from '../sandbox.ts';
import { WORKSPACE } from '../spec.ts';
import { toWorkspacePath } from '../workspace-path.ts';
import { StewardErrno, type StewardLink } from './steward-link.ts';
import { encodeFields, encodeU32, FROM_STEWARD, MAX_FRAME_BYTES, TO_STEWARD } from './wire.ts';

const { errno } = constants;
const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** Of what is written and not sent yet; more is not kept in memory twice. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
const PAUSE_MS = 1;

const CODES: ReadonlyMap<number, SandboxErrorCode> = new Map([
  [errno.ENOENT, 'not_found'],
  [errno.ENOTDIR, 'path_invalid'],
  [errno.EISDIR, 'path_invalid'],
  [errno.EEXIST, 'path_invalid'],
  [errno.ENOTEMPTY, 'path_invalid'],
  [errno.EINVAL, 'path_invalid'],
  [errno.ENAMETOOLONG, 'path_invalid'],
  [errno.ENXIO, 'path_invalid'],
]);

const REASONS: ReadonlyMap<number, string> = new Map([
  [errno.EXDEV, `a link leads out of ${WORKSPACE}`],
  [errno.ENOENT, 'it is not there'],
  [errno.ENOTDIR, 'it is not a directory'],
  [errno.EISDIR, 'it is a directory'],
  [errno.EEXIST, 'it is there already'],
  [errno.EINVAL, 'it is not a regular file'],
  [errno.EROFS, 'it is read-only'],
  [errno.ENOSPC, 'there is no room left (limits.diskBytes, limits.inodes)'],
  [errno.EBUSY, 'it is the workspace itself'],
]);

function toError(path: string, error: unknown): unknown {
  if (!(error instanceof StewardErrno)) return error;
  const name = Object.entries(errno).find(([, value]) => value === error.errno)?.[0];
  const reason = REASONS.get(error.errno) ?? name ?? error.message;
  return new SandboxError(
    CODES.get(error.errno) ?? 'path_denied',
    `Cannot use the path ${JSON.stringify(path)}: ${reason}`,
  );
}

/** The files of a sandbox, as its steward reaches them. */
export class StewardFiles implements SandboxFs {
  readonly #link: StewardLink;

  constructor(link: StewardLink) {
    this.#link = link;
  }

  async readFile(
    path: string,
    { maxBytes = Number.MAX_SAFE_INTEGER }: { readonly maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array> {
    return await this.#ask(TO_STEWARD.read, path, { number: maxBytes });
  }

  async writeFile(path: string, data: string | Uint8Array): Promise<void> {
    await this.put(path, typeof data === 'string' ? Buffer.from(data) : data, FILE_MODE);
  }

  /** With the rights that it is to have. */
  async put(path: string, bytes: Uint8Array, mode: number): Promise<void> {
    const inside = toWorkspacePath(path);
    const link = this.#link;
    let channel = 0;
    const answered = new Promise<void>((resolve, reject) => {
      channel = link.open({
        take: ({ type, payload }) => {
          link.release(channel);
          if (type === FROM_STEWARD.ok) resolve();
          else reject(new StewardErrno(payload.readUInt32LE(0)));
        },
        close: () => reject(new SandboxError('gone', 'The sandbox is gone')),
      });
    });
    // It may fail before everything is sent.
    answered.catch(() => undefined);
    link.send(
      TO_STEWARD.write,
      channel,
      Buffer.concat([encodeU32(mode), Buffer.from(`${inside}\0`)]),
    );
    for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
      link.send(TO_STEWARD.writeData, channel, bytes.subarray(at, at + MAX_FRAME_BYTES));
      while (link.queuedBytes > MAX_QUEUED_BYTES && !link.isGone)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    link.send(TO_STEWARD.writeEnd, channel);
    await answered.catch((error: unknown) => {
      throw toError(path, error);
    });
  }

  /** With the directories above it; one that is there is fine. */
  async mkdir(path: string): Promise<void> {
    const steps = toWorkspacePath(path)
      .split('/')
      .filter((step) => step !== '');
    const made = steps.map((_, index) =>
      this.#ask(TO_STEWARD.mkdir, steps.slice(0, index + 1).join('/'), {
        mode: DIRECTORY_MODE,
      }).catch((error: unknown) => error),
    );
    const last = (await Promise.all(made)).at(-1);
    if (!(last instanceof Error)) return;
    const found = await this.stat(path).catch(() => undefined);
    if (found?.kind !== 'directory') throw last;
  }

  async readdir(path: string): Promise<readonly string[]> {
    const names = (await this.#ask(TO_STEWARD.readdir, path)).toString();
    return names
      .split('\0')
      .filter((name) => name !== '')
      .toSorted();
  }

  async stat(path: string): Promise<SandboxStat> {
    const data = await this.#ask(TO_STEWARD.stat, path);
    const kind = ({ f: 'file', d: 'directory' } as const)[data.toString('latin1', 0, 1)] ?? 'other';
    return { kind, sizeBytes: Number(data.readBigUInt64LE(1)) };
  }

  async rm(path: string): Promise<void> {
    await this.#ask(TO_STEWARD.rm, path);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#ask(TO_STEWARD.rename, from, { second: toWorkspacePath(to) });
  }

  async symlink(path: string, target: string): Promise<void> {
    await this.#ask(TO_STEWARD.symlink, path, { second: target });
  }

  /** SHA-256 of a regular file, in hex; undefined when it cannot be read. */
  async digest(path: string): Promise<string | undefined> {
    try {
      return (await this.#ask(TO_STEWARD.digest, path)).toString('latin1');
    } catch (error) {
      if (SandboxError.is(error) && error.code === 'gone') throw error;
      return undefined;
    }
  }

  async #ask(
    type: number,
    path: string,
    {
      number = 0,
      mode = 0,
      second,
    }: { readonly number?: number; readonly mode?: number; readonly second?: string } = {},
  ): Promise<Buffer> {
    const texts = [toWorkspacePath(path), ...(second === undefined ? [] : [second])];
    try {
      return await this.#link.ask(type, encodeFields([number], [mode], texts));
    } catch (error) {
      throw toError(path, error);
    }
  }
}
