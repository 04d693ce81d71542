import {
  existsSync,
  opendirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule, Variables } from '../policy/policy.ts';
import { readGitFile, readGitPath } from './git-file.ts';

/** The values of one setting, such as `core.hookspath`, in the text of a git configuration. */
function readValues(text: string, setting: string): string[] {
  let section = '';
  const found: string[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([-.\w]+)\s*("(?:[^"\\]|\\.)*")?\s*\]/.exec(raw);
    if (header) section = (header[1] ?? '').toLowerCase();
    else if (/^\s*\[/.test(raw)) section = '';
    const [, key = '', value = ''] =
      /^\s*([-\w]+)\s*=\s*"?([^"#;]*)"?/.exec(header ? raw.slice(header[0].length) : raw) ?? [];
    if (`${section}.${key.toLowerCase()}` === setting && value.trim()) found.push(value.trim());
  }
  return found;
}

/** Most directories are no repository. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The directory with the configuration and the hooks: `.git`, or for a linked worktree or submodule where that points. */
export function findCommonDir(cwd: string): string {
  const link = readPath(() => readGitFile(`${cwd}/.git`));
  const gitDir = link === undefined ? `${cwd}/.git` : resolve(cwd, link);
  return resolve(gitDir, readPath(() => readGitPath(`${gitDir}/commondir`)) ?? '');
}

/** One that is not to be read leads nowhere. */
function readPath(read: () => Buffer | undefined): string | undefined {
  try {
    return read()?.toString();
  } catch {
    return undefined;
  }
}

function listLinkTargets(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => resolve(dir, readlinkSync(`${dir}/${entry.name}`)));
  } catch {
    return []; // no hooks
  }
}

function toRule(path: string, text: string): FsRule {
  const source = 'configuration protection';
  const origin = { source, key: 'config', text, isOfHost: true } as const;
  return { effect: 'config', rights: ['write'], pattern: escapeLiteral(path), origin };
}

/** The files that a configuration includes, whatever the condition, and those that they include. Each is read once. */
function listIncludes(config: string, home: string): string[] {
  const found = new Set([config]);
  for (const file of found) {
    const text = readIfThere(file);
    for (const named of [
      ...readValues(text, 'include.path'),
      ...readValues(text, 'includeif.path'),
    ])
      found.add(resolve(dirname(file), named.replace(/^~(?=\/)/, home)));
  }
  found.delete(config);
  return [...found];
}

function toRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** A git directory whose configuration git reads, and where relative names in it may start from. */
interface GitPlace {
  readonly dir: string;
  readonly roots: readonly string[];
}

function listDirs(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${dir}/${entry.name}`);
  } catch {
    return []; // most directories of git's are not there
  }
}

/** Submodules keep theirs here; their names may hold slashes, and they may have submodules themselves. */
function listModules(modules: string): GitPlace[] {
  return listDirs(modules).flatMap((dir) => {
    if (!existsSync(`${dir}/HEAD`)) return listModules(dir);
    const roots = readValues(readIfThere(`${dir}/config`), 'core.worktree');
    const place = { dir, roots: roots.map((root) => resolve(dir, root)) };
    return [place, ...listModules(`${dir}/modules`)];
  });
}

function listWorktrees(common: string): GitPlace[] {
  return listDirs(`${common}/worktrees`).map((dir) => {
    const gitFile = readPath(() => readGitPath(`${dir}/gitdir`));
    return { dir, roots: gitFile ? [dirname(resolve(dir, gitFile))] : [] };
  });
}

function listPlaces(root: string): GitPlace[] {
  const common = findCommonDir(root);
  const worktrees = listWorktrees(common);
  const roots = [root, ...worktrees.flatMap((worktree) => worktree.roots)];
  return [{ dir: common, roots }, ...worktrees, ...listModules(`${common}/modules`)];
}

/** Every start looks for repositories in the workspace, which may hold anything; what has more in it holds none. */
const MAX_ENTRIES = 1000;

function listFirstDirs(dir: string): string[] {
  const found: string[] = [];
  try {
    const entries = opendirSync(dir, { bufferSize: MAX_ENTRIES });
    for (let count = 0; count < MAX_ENTRIES; count++) {
      const entry = entries.readSync();
      if (!entry) break;
      if (entry.isDirectory()) found.push(`${dir}/${entry.name}`);
    }
    entries.closeSync();
  } catch {
    // not ours to list
  }
  return found;
}

/** Two levels down, which is where people keep them, and wherever submodules are said to be. */
function listRoots(cwd: string): string[] {
  const above = listFirstDirs(cwd).filter((dir) => !/\/(?:\.git|node_modules)$/.test(dir));
  const named = readValues(readIfThere(`${cwd}/.gitmodules`), 'submodule.path');
  const below = above.flatMap(listFirstDirs);
  const dirs = [cwd, ...named.map((name) => resolve(cwd, name)), ...above, ...below];
  return dirs.filter((dir) => existsSync(`${dir}/.git`));
}

function listConfigRules(config: string, { roots }: GitPlace, variables: Places): FsRule[] {
  const { cwd, home } = variables;
  const includes = new Set(listIncludes(config, home).flatMap((path) => [path, toRealPath(path)]));
  const shown = config.startsWith(`${cwd}/`) ? config.slice(cwd.length + 1) : '.git/config';
  const named = [config, ...includes]
    .flatMap((path) => readValues(readIfThere(path), 'core.hookspath'))
    .filter((path) => !path.startsWith('~'));
  return [
    ...[...includes].map((path) => toRule(path, `included by ${shown}`)),
    ...named.flatMap((name) =>
      roots.flatMap((root) => {
        const path = resolve(root, name);
        const targets = listLinkTargets(path).map((target) =>
          toRule(target, 'the target of a link in core.hooksPath'),
        );
        return [...targets, toRule(path, `core.hooksPath ${name}`)];
      }),
    ),
  ];
}

function listPlaceRules(place: GitPlace, variables: Places): FsRule[] {
  return [
    ...listLinkTargets(`${place.dir}/hooks`).map((path) =>
      toRule(path, 'the target of a link in hooks'),
    ),
    ...listConfigRules(`${place.dir}/config`, place, variables),
    ...listConfigRules(`${place.dir}/config.worktree`, place, variables),
  ];
}

type Places = Pick<Variables, 'cwd' | 'home'>;

/** A repository may keep hooks and configuration among its files, or link to them; then those are protected, too. */
export function findRepositoryRules(variables: Places): FsRule[] {
  const rules = new Map<string, FsRule>();
  for (const root of listRoots(variables.cwd))
    for (const place of listPlaces(root))
      for (const rule of listPlaceRules(place, variables))
        if (!rules.has(rule.pattern)) rules.set(rule.pattern, rule);
  return [...rules.values()];
}
