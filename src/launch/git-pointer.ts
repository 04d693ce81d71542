import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isHarmlessGitConfig } from './git-config.ts';
import { findCommonDir } from './repository.ts';

/** What git reads is bytes, not text: a name need not be UTF-8. */
export function join(dir: Buffer, name: Buffer | string): Buffer {
  return Buffer.concat([dir, Buffer.from('/'), Buffer.from(name)]);
}

/** Undefined when it is not there, or not to be looked at: then git cannot read it either. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export function look(path: Buffer): Stats | undefined {
  return attempt(() => lstatSync(path));
}

/** The hooks in a directory of hooks; undefined when they cannot be listed. */
export function listHooks(hooks: Buffer): Buffer[] | undefined {
  return attempt(() => readdirSync(hooks, { encoding: 'buffer' }))
    ?.filter((name) => !name.includes('.sample') && !name.includes('.assay-set-aside-'))
    .map((name) => join(hooks, name));
}

/** Where the path in a file of git's leads. It ends where the kernel would end it; the breaks behind it are not part of it. */
function followText(
  file: Buffer,
  { from, prefix }: { from: Buffer; prefix: string },
): Buffer | undefined {
  if (attempt(() => statSync(file))?.isFile() !== true) return undefined;
  const text = readFileSync(file, 'latin1').replace(/[\r\n]+$/, '');
  if (!text.startsWith(prefix)) return undefined;
  const named = Buffer.from(text.slice(prefix.length).replace(/\0[^]*/, ''), 'latin1');
  return toRealPath(named[0] === 0x2f ? named : join(from, named));
}

/** By the kernel: what is above a link is not what its text says. */
function toRealPath(path: Buffer): Buffer | undefined {
  return attempt(() => realpathSync.native(path, { encoding: 'buffer' }));
}

function followGitFile(dir: Buffer): Buffer | undefined {
  const path = join(dir, '.git');
  if (attempt(() => statSync(path))?.isDirectory() === true) return toRealPath(path); // by a link
  return followText(path, { from: dir, prefix: 'gitdir: ' });
}

function findConfigDanger(path: Buffer): string | undefined {
  const found = look(path);
  if (!found) return undefined;
  return found.isFile() ? isHarmlessGitConfig(readFileSync(path, 'latin1')) : 'not a plain file';
}

function findHooksDanger(hooks: Buffer): string | undefined {
  const found = look(hooks);
  if (!found) return undefined;
  if (!found.isDirectory()) return 'hooks that are not a directory';
  return listHooks(hooks)?.length === 0 ? undefined : 'git hook';
}

function findDirDanger(dir: Buffer): string | undefined {
  return (
    findConfigDanger(join(dir, 'config')) ??
    findConfigDanger(join(dir, 'config.worktree')) ??
    findHooksDanger(join(dir, 'hooks'))
  );
}

function isUnder(path: Buffer, dir: Buffer | undefined): boolean {
  if (!dir) return false;
  return path.equals(dir) || path.subarray(0, dir.length + 1).equals(join(dir, ''));
}

/** The git directories that the user works with anyway, so that leading git there adds nothing. */
export class KnownGitDirs {
  readonly #cwd: Buffer | undefined;
  readonly #common: Buffer | undefined;

  /** What leads from the workspace to its git directory counts only where the run did not make it. */
  constructor(cwd: string, gitFileDirs: readonly Buffer[]) {
    const real = toRealPath(Buffer.from(cwd));
    const isNew = real !== undefined && gitFileDirs.some((dir) => dir.equals(real));
    this.#cwd = real;
    this.#common = isNew ? undefined : toRealPath(Buffer.from(findCommonDir(cwd)));
  }

  /** The repository of the workspace with its worktrees and submodules, or any `.git` below: git goes there by itself. */
  has(path: Buffer): boolean {
    if (isUnder(path, this.#common)) return true;
    const below = join(path, '').subarray(this.#cwd?.length);
    return isUnder(path, this.#cwd) && below.includes('/.git/');
  }
}

function findDanger(gitDir: Buffer | undefined, known: KnownGitDirs): string | undefined {
  if (!gitDir) return undefined;
  const common = followText(join(gitDir, 'commondir'), { from: gitDir, prefix: '' }) ?? gitDir;
  const unknown = [gitDir, common].filter((dir) => !known.has(dir));
  return unknown.map(findDirDanger).find((reason) => reason !== undefined);
}

/** Why the `.git` that is no directory must not lead where it leads; undefined when it may. */
export function findGitFileDanger(dir: Buffer, known: KnownGitDirs): string | undefined {
  return findDanger(followGitFile(dir), known);
}

/** The same of the `commondir` in a git directory. */
export function findCommonDirDanger(gitDir: Buffer, known: KnownGitDirs): string | undefined {
  return findDanger(toRealPath(gitDir), known);
}
