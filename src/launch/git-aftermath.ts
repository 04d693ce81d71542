import { readFileSync, renameSync, unlinkSync } from 'node:fs';
import { decodeName } from '../core/name-bytes.ts';
import { isNamedForWriting } from '../plan/broker.ts';
import type { BrokerRules } from '../plan/plan.ts';
import { join, look } from './byte-path.ts';
import { isHarmlessGitConfig } from './git-config.ts';
import { findCommonDirDanger, findGitFileDanger, KnownGitDirs, listHooks } from './git-pointer.ts';

/** A git directory that the run wrote to. Its path is bytes, not text: a name need not be UTF-8. */
export interface GitDir {
  readonly path: Buffer;
  /** It was no git directory before the run, so nothing in it is older than that. */
  readonly isBorn: boolean;
}

/** A file that would have made git run a program, moved out of git's way. */
export interface SetAside {
  readonly path: string;
  /** Where it is now; null when it could not be moved and was removed, or is still there (then `problem` says so). */
  readonly movedTo: string | null;
  /** What made it dangerous. */
  readonly because: string;
  readonly problem?: string | undefined;
}

function setAside(path: Buffer, because: string): SetAside {
  // A name that nobody can have taken beforehand. Few runs need it, and loading it takes longer than all of this.
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const target = Buffer.concat([
    path,
    Buffer.from(`.assay-set-aside-${randomBytes(6).toString('hex')}`),
  ]);
  try {
    renameSync(path, target);
    return { path: show(path), movedTo: show(target), because };
  } catch (error) {
    return removeInstead(path, because, error as Error);
  }
}

function show(path: Buffer): string {
  return decodeName(path.toString('latin1'));
}

function removeInstead(path: Buffer, because: string, error: Error): SetAside {
  const shown = show(path);
  try {
    unlinkSync(path);
    return { path: shown, movedTo: null, because };
  } catch {
    return { path: shown, movedTo: null, because, problem: `it is still there: ${error.message}` };
  }
}

/** What a run did that may concern git, where, and what it was allowed by name. */
export interface GitTraces {
  readonly gitDirs: readonly GitDir[];
  /** Directories in which it made a `.git` that is no directory. */
  readonly gitFileDirs: readonly Buffer[];
  readonly cwd: string;
  readonly sinceMs: number;
  readonly rules: readonly BrokerRules[];
}

/** Did it appear or change during the run? In a directory that was born in the run, everything counts. */
function isOfThisRun(path: Buffer, { isBorn }: GitDir, { sinceMs }: GitTraces): boolean {
  const found = look(path);
  return found !== undefined && (isBorn || Number(found.ctimeMs) >= sinceMs);
}

type Kind = 'repository' | 'common';

/**
 * Many directories have something called `config` in them. As the guard in the helper tells it: a repository, or a
 * directory that git takes for the common one of a worktree, which needs no HEAD. So may one that is nothing of git's.
 */
function findKind({ path }: GitDir): Kind | undefined {
  const has = (name: string): boolean => look(join(path, name)) !== undefined;
  if (has('HEAD') && (has('objects') || has('commondir'))) return 'repository';
  return has('objects') && has('refs') ? 'common' : undefined;
}

interface Found extends GitDir {
  readonly kind: Kind;
}

function checkConfig(dir: Found, name: string, traces: GitTraces): SetAside[] {
  const path = join(dir.path, name);
  if (!isOfThisRun(path, dir, traces) || isNamedForWriting(traces.rules, path.toString()))
    return [];
  const found = look(path);
  if (dir.kind === 'common' && found?.isDirectory()) return []; // a project's own
  if (!found?.isFile()) return [setAside(path, 'not a plain file')];
  const reason = isHarmlessGitConfig(readFileSync(path, 'latin1'));
  return reason === undefined ? [] : [setAside(path, reason)];
}

/** A project may have directories `objects`, `refs` and `hooks` of its own. What git would never run there stays. */
function mayBeHook(path: Buffer, { kind }: Found): boolean {
  if (kind === 'repository') return true;
  return !path.subarray(path.lastIndexOf('/')).includes('.') && !look(path)?.isDirectory();
}

function checkHooks(dir: Found, traces: GitTraces): SetAside[] {
  const hooks = join(dir.path, 'hooks');
  const found = look(hooks);
  if (!found) return [];
  const isLeft = (path: Buffer): boolean =>
    isOfThisRun(path, dir, traces) &&
    !isNamedForWriting(traces.rules, path.toString(), hooks.toString());
  if (!found.isDirectory()) return isLeft(hooks) ? [setAside(hooks, 'not a directory')] : [];
  const names = listHooks(hooks);
  // Git runs hooks by their names, so it need not be able to list them.
  if (!names) return isLeft(hooks) ? [setAside(hooks, 'cannot be listed')] : [];
  return names
    .filter((path) => isLeft(path) && mayBeHook(path, dir))
    .map((path) => setAside(path, 'git hook'));
}

function checkDir(dir: GitDir, traces: GitTraces): SetAside[] {
  const kind = look(dir.path)?.isDirectory() ? findKind(dir) : undefined;
  if (!kind) return [];
  const found = { ...dir, kind };
  return [
    ...checkConfig(found, 'config', traces),
    ...checkConfig(found, 'config.worktree', traces),
    ...checkHooks(found, traces),
  ];
}

/** What leads git to another directory, which may be an old one that nothing led to before. */
function checkPointer(path: Buffer, findDanger: () => string | undefined): SetAside[] {
  if (!look(path)) return [];
  let reason: string | undefined;
  try {
    reason = findDanger();
  } catch (error) {
    reason = `what cannot be looked at: ${(error as Error).message}`;
  }
  return reason === undefined ? [] : [setAside(path, `it leads to ${reason}`)];
}

function checkCommonDir(dir: GitDir, known: KnownGitDirs, traces: GitTraces): SetAside[] {
  const path = join(dir.path, 'commondir');
  if (!isOfThisRun(path, dir, traces)) return [];
  return checkPointer(path, () => findCommonDirDanger(dir.path, known));
}

/** What is wrong with one never keeps the others from being looked at. */
function tryCheckDir(dir: GitDir, traces: GitTraces): SetAside[] {
  try {
    return checkDir(dir, traces);
  } catch (error) {
    const problem = `it could not be looked at: ${(error as Error).message}`;
    const path = show(dir.path);
    return [{ path, movedTo: null, because: 'git directory of this run', problem }];
  }
}

/** Each is reported when it is seen first and when the run is over. */
function mergeDirs(dirs: readonly GitDir[]): GitDir[] {
  const known = new Map<string, GitDir>();
  for (const dir of dirs) {
    const key = dir.path.toString('latin1');
    known.set(key, { path: dir.path, isBorn: dir.isBorn || known.get(key)?.isBorn === true });
  }
  return [...known.values()];
}

/**
 * Looks at the git directories that the run wrote to: settings and hooks that appeared during the run and that would
 * make git run a program, outside, later. Then at what leads to directories, which are by then as they will be.
 */
export function setAsideGitPrograms(traces: GitTraces): SetAside[] {
  const { gitDirs, gitFileDirs, cwd } = traces;
  const known = new KnownGitDirs(cwd, gitFileDirs);
  const dirs = mergeDirs(gitDirs);
  const fileDirs = new Map(gitFileDirs.map((dir) => [dir.toString('latin1'), dir]));
  return [
    ...dirs.flatMap((dir) => tryCheckDir(dir, traces)),
    ...dirs.flatMap((dir) => checkCommonDir(dir, known, traces)),
    ...[...fileDirs.values()].flatMap((dir) =>
      checkPointer(join(dir, '.git'), () => findGitFileDanger(dir, known)),
    ),
  ];
}
