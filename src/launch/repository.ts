import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule } from '../policy/policy.ts';

/** The value of `core.hooksPath` in the text of a git configuration; the last one counts. */
export function readHooksPath(text: string): string | undefined {
  let section = '';
  let found: string | undefined;
  for (const raw of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([-.\w]+)\s*\]/.exec(raw);
    if (header) section = (header[1] ?? '').toLowerCase();
    else if (/^\s*\[/.test(raw)) section = '';
    const value = /^\s*hookspath\s*=\s*"?([^"#;]*)"?/i
      .exec(header ? raw.slice(header[0].length) : raw)?.[1]
      ?.trim();
    if (section === 'core' && value) found = value;
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
function findCommonDir(cwd: string): string {
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

/** A repository may keep its hooks among its files, or link to them; then those are hooks, too, and protected. */
export function findRepositoryRules(cwd: string): FsRule[] {
  if (!existsSync(`${cwd}/.git`)) return [];
  const common = findCommonDir(cwd);
  const named = readHooksPath(readIfThere(`${common}/config`));
  const rules = listLinkTargets(`${common}/hooks`).map((path) =>
    toRule(path, 'the target of a link in hooks'),
  );
  if (named === undefined || named.startsWith('~')) return rules;
  const path = resolve(cwd, named);
  const targets = listLinkTargets(path).map((target) =>
    toRule(target, 'the target of a link in core.hooksPath'),
  );
  return [...rules, ...targets, toRule(path, `core.hooksPath ${named}`)];
}
