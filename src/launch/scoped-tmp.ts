import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { helperPath } from './helper-path.ts';

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

/**
 * Removes a directory whatever a program has put into it. Where that is more than node can do (names too deep, rights
 * taken away) the helper does it. Returns why it could not be removed, if so.
 */
export function removeTree(path: string): string | undefined {
  try {
    rmSync(path, { recursive: true, force: true });
    return undefined;
  } catch (error) {
    return removeByHelper(path) ? undefined : `${path} cannot be removed: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`;
  }
}

/** Leaves alone what a live run holds locked, in whatever pid namespace that is. */
function removeByHelper(path: string): boolean {
  return spawnSync(helperPath(), ['remove', path], { env: {}, cwd: '/', stdio: 'ignore' }).status === 0;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Removes what runs that were killed left behind: directories of this user whose process is gone. Returns what could
 * not be removed; a leftover must never keep the next run from going on.
 */
export function sweepScopedTmp(uid: number): string[] {
  const prefix = `assay-${uid}-`;
  return readdirSync(BASE).flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const pid = Number(name.slice(prefix.length));
    const path = join(BASE, name);
    if (!Number.isSafeInteger(pid) || pid <= 0 || isAlive(pid)) return [];
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isRemoved = !found?.isDirectory() || found.uid !== uid || removeByHelper(path);
    return isRemoved ? [] : [`${path} cannot be removed`];
  });
}
