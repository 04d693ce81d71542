import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../sandbox-error.ts';
import type { StewardFiles } from './steward-files.ts';

/** How many files are under way at a time. */
const MAX_OPEN = 16;

/** Puts a copy of a directory of the host into the workspace; returns the digest of each file. */
export async function copyIn(files: StewardFiles, host: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  const open = new Set<Promise<void>>();
  let failure: unknown;
  const start = async (work: Promise<void>): Promise<void> => {
    const done: Promise<void> = work
      .catch((error: unknown) => void (failure ??= error))
      .finally(() => open.delete(done));
    open.add(done);
    if (open.size >= MAX_OPEN) await Promise.race(open);
  };
  const copyFile = async (path: string, mode: number): Promise<void> => {
    const bytes = await readFile(join(host, path));
    digests.set(path, createHash('sha256').update(bytes).digest('hex'));
    await files.put(path, bytes, mode & 0o777);
  };
  const visit = async (folder: string): Promise<void> => {
    for (const name of await readdir(join(host, folder))) {
      if (failure !== undefined) return;
      const path = folder === '' ? name : `${folder}/${name}`;
      const found = await lstat(join(host, path));
      if (found.isDirectory()) {
        await files.mkdir(path);
        await visit(path);
      } else if (found.isSymbolicLink())
        await start(readlink(join(host, path)).then((target) => files.symlink(path, target)));
      else if (found.isFile()) await start(copyFile(path, found.mode));
      // Sockets, pipes and devices are nothing to have a copy of.
    }
  };
  await visit('');
  await Promise.all(open);
  if (failure !== undefined)
    throw new SandboxError('start_failed', `Cannot copy ${host} into the sandbox`, {
      cause: failure,
      hint: 'limits.diskBytes and limits.inodes hold for the copy, too',
    });
  return digests;
}
