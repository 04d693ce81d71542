import { readFileSync } from 'node:fs';
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

/** Most directories are no repository, and in a linked worktree `.git` is a file. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A repository may keep its hooks among its files; then those are hooks, too, and protected like the others. */
export function findRepositoryRules(cwd: string): FsRule[] {
  const path = readHooksPath(readIfThere(`${cwd}/.git/config`));
  if (path === undefined || path.startsWith('~')) return [];
  return [
    {
      effect: 'config',
      rights: ['write'],
      pattern: escapeLiteral(resolve(cwd, path)),
      origin: { source: 'configuration protection', key: 'config', text: `core.hooksPath ${path}` },
    },
  ];
}
