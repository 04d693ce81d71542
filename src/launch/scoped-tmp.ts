import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';

const BASE = '/tmp';

export function scopedTmpPath(uid: number, pid: number): string {
  return `${BASE}/assay-${uid}-${pid}`;
}

/** Makes the directory anew; one that an earlier process of the same number left behind is removed. */
export function makeScopedTmp(path: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })) removeTree(path);
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    throw new AssayError('E_TMP_FAILED', `Cannot make the private directory ${path}: ${(cause as Error).message}`, {
      hint: `Make ${BASE} writable, or remove what is at ${path}`,
      cause,
    });
  }
}

/** A program may have taken away its own rights to what it left; then they are given back first. */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function openUp(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) openUp(join(path, name));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes what runs that were killed left behind: directories of this user whose process is gone. */
export function sweepScopedTmp(uid: number): void {
  const prefix = `assay-${uid}-`;
  for (const name of readdirSync(BASE)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    const path = join(BASE, name);
    if (!Number.isSafeInteger(pid) || pid <= 0 || isAlive(pid)) continue;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() && found.uid === uid) removeTree(path);
  }
}
