import { lstatSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** A file that would have made git run a program, moved out of git's way. */
export interface SetAside {
  readonly path: string;
  readonly movedTo: string;
  /** The settings or the kind of file that made it dangerous. */
  readonly because: string;
}

/** Settings that name a program for git to run, in the lower case in which git compares them. */
const PROGRAM_SETTINGS: readonly RegExp[] = [
  /^core\.(fsmonitor|hookspath|sshcommand|editor|pager|gitproxy|askpass|alternaterefscommand)$/,
  /^(pager|alias|gpg|credential|difftool|mergetool|trailer|sendemail|browser|man|guitool)\./,
  /^(sequence\.editor|diff\.external|interactive\.difffilter|uploadpack\.packobjectshook|init\.templatedir)$/,
  /^(diff\..*\.(textconv|command)|merge\..*\.driver|filter\..*\.(clean|smudge|process))$/,
  /^(credential(\..*)?\.helper|gpg(\..*)?\.program|remote\..*\.(uploadpack|receivepack|vcs|proxy)|submodule\..*\.update)$/,
  /^include(if\..*)?\.path$/,
  /^protocol\.ext\.allow$/,
];

/** `section.key` of every setting in a git configuration, without interpreting values. */
export function listGitSettings(text: string): string[] {
  const names: string[] = [];
  let section = '';
  // A backslash at the end of a line continues the value on the next.
  for (const raw of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    let line = raw.trim();
    const header = /^\[\s*([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header) {
      section =
        (header[1] ?? '').toLowerCase() +
        (header[2] === undefined ? '' : `.${header[2].toLowerCase()}`);
      line = line.slice(header[0].length).trim();
    }
    const key = /^([A-Za-z][-\w]*)\s*(?:=|$|[#;])/.exec(line);
    if (key) names.push(`${section}.${(key[1] ?? '').toLowerCase()}`);
    else if (line && !/^[#;]/.test(line) && !header) names.push('unreadable.line');
  }
  return names;
}

export function findProgramSettings(text: string): string[] {
  return listGitSettings(text).filter(
    (name) => name === 'unreadable.line' || PROGRAM_SETTINGS.some((pattern) => pattern.test(name)),
  );
}

function isChangedSince(path: string, sinceMs: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.ctimeMs >= sinceMs;
}

function setAside(path: string, because: string): SetAside {
  const movedTo = `${path}.assay-set-aside`;
  renameSync(path, movedTo);
  return { path, movedTo, because };
}

function checkConfig(path: string, sinceMs: number): SetAside[] {
  if (!isChangedSince(path, sinceMs)) return [];
  if (!lstatSync(path).isFile()) return [setAside(path, 'not a plain file')];
  const found = findProgramSettings(readFileSync(path, 'utf8'));
  return found.length > 0 ? [setAside(path, [...new Set(found)].join(', '))] : [];
}

function checkHooks(dir: string, sinceMs: number): SetAside[] {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory())
    return isChangedSince(dir, sinceMs) ? [setAside(dir, 'not a directory')] : [];
  return readdirSync(dir)
    .filter((name) => !name.endsWith('.sample') && !name.endsWith('.assay-set-aside'))
    .map((name) => join(dir, name))
    .filter((path) => isChangedSince(path, sinceMs))
    .map((path) => setAside(path, 'git hook'));
}

/**
 * Looks at the git directories whose HEAD the run wrote: settings and hooks that appeared during the run and that would
 * make git run a program, outside, later.
 */
export function setAsideGitPrograms(dirs: readonly string[], sinceMs: number): SetAside[] {
  return dirs
    .filter((dir) => lstatSync(dir, { throwIfNoEntry: false })?.isDirectory())
    .flatMap((dir) => [
      ...checkConfig(join(dir, 'config'), sinceMs),
      ...checkConfig(join(dir, 'config.worktree'), sinceMs),
      ...checkHooks(join(dir, 'hooks'), sinceMs),
    ]);
}
