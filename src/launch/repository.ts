import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule, Variables } from '../policy/policy.ts';

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
  const link = /^gitdir: (.+)$/m.exec(readIfThere(`${cwd}/.git`))?.[1];
  const gitDir = link === undefined ? `${cwd}/.git` : resolve(cwd, link.trim());
  const common = readIfThere(`${gitDir}/commondir`).trim();
  return common ? resolve(gitDir, common) : gitDir;
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

/** A repository may keep hooks and configuration among its files, or link to them; then those are protected, too. */
export function findRepositoryRules({ cwd, home }: Pick<Variables, 'cwd' | 'home'>): FsRule[] {
  if (!existsSync(`${cwd}/.git`)) return [];
  const common = findCommonDir(cwd);
  const includes = new Set(
    listIncludes(`${common}/config`, home).flatMap((path) => [path, toRealPath(path)]),
  );
  const rules = [
    ...listLinkTargets(`${common}/hooks`).map((path) =>
      toRule(path, 'the target of a link in hooks'),
    ),
    ...[...includes].map((path) => toRule(path, 'included by .git/config')),
  ];
  const named = [`${common}/config`, ...includes]
    .flatMap((path) => readValues(readIfThere(path), 'core.hookspath'))
    .filter((path) => !path.startsWith('~'));
  return [
    ...rules,
    ...named.flatMap((name) => {
      const path = resolve(cwd, name);
      const targets = listLinkTargets(path).map((target) =>
        toRule(target, 'the target of a link in core.hooksPath'),
      );
      return [...targets, toRule(path, `core.hooksPath ${name}`)];
    }),
  ];
}
