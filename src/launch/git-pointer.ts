import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isUnder, join, look } from './byte-path.ts';
import { isHarmlessGitConfig } from './git-config.ts';
import { readGitFile, readGitPath } from './git-file.ts';
import { findCommonDir } from './repository.ts';

/** Undefined when it is not there, or not to be looked at: then git cannot read it either. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** The hooks in a directory of hooks; undefined when they cannot be listed. */
export function listHooks(hooks: Buffer): Buffer[] | undefined {
  return attempt(() => readdirSync(hooks, { encoding: 'buffer' }))
    ?.filter((name) => !name.includes('.sample') && !name.includes('.assay-set-aside-'))
    .map((name) => join(hooks, name));
}

/** Where a path that git has read leads. */
function follow(named: Buffer | undefined, from: Buffer): Buffer | undefined {
  return named && toRealPath(named[0] === 0x2f ? named : join(from, named));
}

/** By the kernel: what is above a link is not what its text says. */
function toRealPath(path: Buffer): Buffer | undefined {
  return attempt(() => realpathSync.native(path, { encoding: 'buffer' }));
}

function followGitFile(dir: Buffer): Buffer | undefined {
  const path = join(dir, '.git');
  if (attempt(() => statSync(path))?.isDirectory() === true) return toRealPath(path); // by a link
  return follow(readGitFile(path), dir);
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
    if (this.#common && isUnder(path, this.#common)) return true;
    if (!this.#cwd || !isUnder(path, this.#cwd)) return false;
    return `${path.toString('latin1', this.#cwd.length)}/`.includes('/.git/');
  }
}

function findDanger(gitDir: Buffer | undefined, known: KnownGitDirs): string | undefined {
  if (!gitDir) return undefined;
  const common = follow(readGitPath(join(gitDir, 'commondir')), gitDir) ?? gitDir;
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
