import type { SandboxFs, SandboxStat } from '../sandbox.ts';
import { SandboxError, type SandboxErrorCode } from '../sandbox-error.ts';
import { toEntryPath, toWorkspacePath } from '../workspace-path.ts';
import { type CellProcess, CellRefusal } from './cell-process.ts';
import { type CellEntry, decodeEntries, decodeNames, decodeStat } from './decode-message.ts';
import { PIECE_BYTES } from './frames.ts';

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  NOENT: 'not_found',
  ACCES: 'path_denied',
  PERM: 'path_denied',
  ROFS: 'path_denied',
  NOSPC: 'path_denied',
  LOOP: 'path_denied',
};

/** Below the workspace; the workspace itself is the directory that paths start from. */
export function toInside(path: string): string {
  return toWorkspacePath(path) || '.';
}

export function toSandboxError(error: unknown, path: string): unknown {
  if (!(error instanceof CellRefusal)) return error;
  const { errno } = error;
  const code = CODES[errno] ?? 'path_invalid';
  return new SandboxError(
    code,
    `Cannot use "${path}": ${errno === 'NOSPC' ? 'no space is left' : `E${errno}`}`,
  );
}

/** The files of a cell: what is read-only for programs inside is not for whoever holds it. */
export class CellFiles implements SandboxFs {
  private readonly cell: CellProcess;
  private readonly maxFiles: number;
  private readonly requireAlive: () => void;

  constructor(cell: CellProcess, maxFiles: number, requireAlive: () => void) {
    this.cell = cell;
    this.maxFiles = maxFiles;
    this.requireAlive = requireAlive;
  }

  private async ask(
    path: string,
    act: (inside: string) => Parameters<CellProcess['file']>,
  ): Promise<{ value: unknown; bytes: Uint8Array }> {
    this.requireAlive();
    const [request, bytes] = act(toInside(path));
    try {
      return await this.cell.file(request, bytes);
    } catch (error) {
      throw toSandboxError(error, path);
    }
  }

  /** A cell that names more files than it can have is not listened to any longer. */
  private requireCount(count: number): void {
    if (count > this.maxFiles)
      throw new SandboxError('engine_failed', 'The cell names more files than it can have');
  }

  /** Everything in the workspace. */
  async list(): Promise<CellEntry[]> {
    const entries: CellEntry[] = [];
    for (;;) {
      const { value } = await this.cell.file({ op: 'list', from: entries.length });
      const more = decodeEntries(value);
      if (more.length === 0) return entries;
      entries.push(...more);
      this.requireCount(entries.length);
    }
  }

  async readFile(
    path: string,
    { maxBytes = Number.MAX_SAFE_INTEGER }: { readonly maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let at = 0;
    while (at < maxBytes) {
      const wanted = Math.min(PIECE_BYTES, maxBytes - at);
      const { bytes } = await this.ask(path, (inside) => [
        { op: 'read', path: inside, at, maxBytes: wanted },
      ]);
      pieces.push(bytes.subarray(0, wanted));
      at += bytes.length;
      if (bytes.length < wanted) break;
    }
    return Buffer.concat(pieces);
  }

  async writeFile(path: string, data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let at = 0; at === 0 || at < bytes.length; at += PIECE_BYTES)
      await this.ask(path, (inside) => [
        { op: 'write', path: inside, isFirst: at === 0 },
        bytes.subarray(at, at + PIECE_BYTES),
      ]);
  }

  async mkdir(path: string): Promise<void> {
    await this.ask(path, (inside) => [{ op: 'mkdir', path: inside }]);
  }

  async readdir(path: string): Promise<readonly string[]> {
    const names: string[] = [];
    for (;;) {
      const from = names.length;
      const { value } = await this.ask(path, (inside) => [{ op: 'readdir', path: inside, from }]);
      const more = decodeNames(value);
      if (more.length === 0) return names;
      names.push(...more);
      this.requireCount(names.length);
    }
  }

  async stat(path: string): Promise<SandboxStat> {
    const { value } = await this.ask(path, (inside) => [{ op: 'stat', path: inside }]);
    const { kind, sizeBytes } = decodeStat(value);
    return { kind: kind === 'link' ? 'other' : kind, sizeBytes };
  }

  async rm(path: string): Promise<void> {
    const entry = toEntryPath(path);
    await this.ask(path, () => [{ op: 'rm', path: entry }]);
  }

  async rename(from: string, to: string): Promise<void> {
    const target = toEntryPath(to);
    await this.ask(from, () => [{ op: 'rename', path: toEntryPath(from), to: target }]);
  }
}
