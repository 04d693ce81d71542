import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeName, spellName, toText } from '../../core/name-bytes.ts';
import { toPrintable } from '../../core/printable.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { GuestFiles } from './guest-files.ts';

const PAGE_BYTES = 4096;
/** Files on their way at a time. */
const PARALLEL = 8;

interface HostFile {
  /** Below the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link';
}

/** What is to be copied, and what room it takes in the guest. */
export interface HostTree {
  readonly directory: string;
  readonly files: readonly HostFile[];
  readonly bytes: number;
}

function refuse(shown: string, why: string, cause?: unknown): SandboxError {
  return new SandboxError('path_invalid', `Cannot copy "${toPrintable(shown)}": ${why}`, { cause });
}

async function walk(directory: string, below: string, files: HostFile[]): Promise<number> {
  let bytes = 0;
  const entries = await readdir(join(directory, below), {
    withFileTypes: true,
    encoding: 'latin1',
  });
  for (const entry of entries) {
    const name = toText(entry.name);
    if (name === undefined)
      throw refuse(join(spellName(below), decodeName(entry.name)), 'its name is not UTF-8');
    const path = join(below, name);
    if (entry.isDirectory()) {
      files.push({ path, kind: 'directory' });
      bytes += await walk(directory, path, files);
    } else if (entry.isFile()) {
      files.push({ path, kind: 'file' });
      bytes += Math.ceil((await stat(join(directory, path))).size / PAGE_BYTES) * PAGE_BYTES;
    } else if (entry.isSymbolicLink()) {
      files.push({ path, kind: 'link' });
      bytes += PAGE_BYTES;
    }
    // Sockets, pipes and devices are nothing that a copy could be made of.
  }
  return bytes;
}

export async function readHostTree(directory: string): Promise<HostTree> {
  const files: HostFile[] = [];
  try {
    const bytes = await walk(directory, '', files);
    return { directory, files, bytes };
  } catch (cause) {
    if (SandboxError.is(cause)) throw cause;
    throw refuse(directory, (cause as Error).message, cause);
  }
}

async function copyFile(tree: HostTree, path: string, guest: GuestFiles): Promise<string> {
  const file = await open(
    join(tree.directory, path),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const { mode } = await file.stat();
    const data = await file.readFile();
    await guest.importFile(path, mode, data);
    return createHash('sha256').update(data).digest('hex');
  } finally {
    await file.close();
  }
}

/** Returns the digests of the files by their path. */
export async function copyIn(tree: HostTree, guest: GuestFiles): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const { path, kind } of tree.files) if (kind === 'directory') await guest.mkdir(path);
  const waiting = tree.files.filter(({ kind }) => kind !== 'directory').toReversed();
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { path, kind } = next;
      try {
        if (kind === 'file') digests.set(path, await copyFile(tree, path, guest));
        else await guest.importLink(path, await readlink(join(tree.directory, path)));
      } catch (cause) {
        if (SandboxError.is(cause)) throw cause;
        throw refuse(spellName(path), (cause as Error).message, cause);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return digests;
}
