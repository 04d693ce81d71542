import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { AssayError } from '../core/errors.ts';
import { helperPath } from './helper-path.ts';

const BASE = '/tmp';

export function scopedTmpPath(uid: number, pid: number): string {
  return `${BASE}/assay-${uid}-${pid}`;
}

/** Makes the directory anew; one that an earlier process of the same number left behind is removed. */
export function makeScopedTmp(path: string): void {
  try {
    makeAnew(path);
  } catch (cause) {
    throw new AssayError(
      'E_TMP_FAILED',
      `Cannot make the private directory ${path}: ${(cause as Error).message}`,
      {
        hint: `Make ${BASE} writable, or remove what is at ${path}`,
        cause,
      },
    );
  }
}

function makeAnew(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeTree(path);
    mkdirSync(path, 0o700);
  }
}

/** Removes a directory whatever a program has put into it. Returns why it could not be removed, if so. */
export function removeTree(path: string): string | undefined {
  return removeBareTree(path) ? undefined : removeFullTree(path);
}

/** Most runs leave nothing but the name that TMPDIR gives, for which the long way is too long. False for all others. */
export function removeBareTree(path: string): boolean {
  try {
    const names = readdirSync(path);
    if (names.length > 1) return false;
    for (const name of names) unlinkSync(`${path}/${name}`);
    rmdirSync(path);
    return true;
  } catch {
    return false; // then the long way finds out why
  }
}

/** Where there is more than node can do (names too deep, rights taken away) the helper does it. */
function removeFullTree(path: string): string | undefined {
  try {
    rmSync(path, { recursive: true, force: true });
    return undefined;
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return removeByHelper(path) ? undefined : `${path} cannot be removed: ${code}`;
  }
}

/** Leaves alone what a live run holds locked, in whatever pid namespace that is. */
function removeByHelper(path: string): boolean {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return (
    spawnSync(helperPath(), ['remove', path], { env: {}, cwd: '/', stdio: 'ignore' }).status === 0
  );
}

export function isAlive(pid: number): boolean {
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
  const problems: string[] = [];
  for (const name of readdirSync(BASE)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    const path = `${BASE}/${name}`;
    if (!Number.isSafeInteger(pid) || pid <= 0 || isAlive(pid)) continue;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found?.isDirectory() || found.uid !== uid) continue;
    if (!removeByHelper(path)) problems.push(`${path} cannot be removed`);
  }
  return problems;
}
