import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import type { FileChange } from '../sandbox.ts';
import { spellName } from '../../core/name-bytes.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { CellProcess } from './cell-process.ts';
import { PIECE_BYTES } from './frames.ts';
import { type CellFiles, toSandboxError } from './sandbox-files.ts';

/** By path: the digest of a file, or what else was there. */
export type Baseline = ReadonlyMap<string, string>;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Puts the files of a directory of the host into the cell. Links stay links, and lead through the cell's tree only: none
 * is followed on the way, not even one that is put in place meanwhile.
 */
class WorkspaceCopy {
  readonly baseline = new Map<string, string>();
  private readonly cell: CellProcess;

  constructor(cell: CellProcess) {
    this.cell = cell;
  }

  /** What is in the directory that `place` names, which is at `prefix` inside. */
  async copyDirectory(place: string, prefix: string): Promise<void> {
    const fd = openSync(place, O_RDONLY | O_DIRECTORY | (prefix ? O_NOFOLLOW : 0));
    try {
      // By its descriptor, so that it stays the same directory whatever becomes of its name.
      const here = `/proc/self/fd/${fd}`;
      for (const name of readdirSync(here).toSorted())
        await this.copyEntry(`${here}/${name}`, `${prefix}${name}`);
    } finally {
      closeSync(fd);
    }
  }

  private async copyEntry(place: string, path: string): Promise<void> {
    const found = lstatSync(place);
    if (found.isDirectory()) {
      await this.cell.file({ op: 'mkdir', path });
      this.baseline.set(path, 'directory');
      await this.copyDirectory(place, `${path}/`);
    } else if (found.isSymbolicLink()) {
      await this.cell.file({ op: 'link', path, to: readlinkSync(place) });
      this.baseline.set(path, 'link');
    } else if (found.isFile()) await this.copyFile(place, path);
  }

  private async copyFile(place: string, path: string): Promise<void> {
    const fd = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile()) return;
      const hash = createHash('sha256');
      for (let isFirst = true; ; isFirst = false) {
        const piece = Buffer.alloc(PIECE_BYTES);
        const bytes = piece.subarray(0, readSync(fd, piece));
        if (bytes.length === 0 && !isFirst) break;
        hash.update(bytes);
        await this.cell.file({ op: 'write', path, isFirst }, bytes);
      }
      this.baseline.set(path, hash.digest('hex'));
    } finally {
      closeSync(fd);
    }
  }
}

export async function copyWorkspace(host: string, cell: CellProcess): Promise<Baseline> {
  if (!statSync(host, { throwIfNoEntry: false })?.isDirectory())
    throw new SandboxError('path_invalid', `Cannot use ${host} as a workspace: it is no directory`);
  const copy = new WorkspaceCopy(cell);
  try {
    await copy.copyDirectory(host, '');
    return copy.baseline;
  } catch (error) {
    const cause = toSandboxError(error, host);
    throw new SandboxError('start_failed', `Cannot copy ${host}: ${(cause as Error).message}`, {
      cause,
      hint: 'Raise limits.diskBytes or limits.inodes, or give less',
    });
  }
}

/** What differs from the baseline. The digests are made here, of what the cell hands out. */
export async function findChanges(baseline: Baseline, files: CellFiles): Promise<FileChange[]> {
  const entries = await files.list();
  const changes: FileChange[] = [];
  for (const { path, kind, sizeBytes } of entries) {
    const before = baseline.get(path);
    if (kind !== 'file') {
      if (before === kind) continue;
      if (kind === 'link')
        changes.push({ path: spellName(path), change: before ? 'modified' : 'added' });
      continue;
    }
    const sha256 = createHash('sha256')
      .update(await files.readFile(path))
      .digest('hex');
    if (before === sha256) continue;
    const change = before ? 'modified' : 'added';
    changes.push({ path: spellName(path), change, sha256, sizeBytes });
  }
  const left = new Set(entries.map(({ path }) => path));
  for (const [path, what] of baseline)
    if (!left.has(path) && what !== 'directory')
      changes.push({ path: spellName(path), change: 'deleted' });
  return changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
