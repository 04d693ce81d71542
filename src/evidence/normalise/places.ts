import type { RunRecord } from '../run-record.ts';

/** The directories of a run by the names that every run has for them. */
export interface Places {
  /** By absolute path: what stands for it. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly cwd: string;
  /** From the parent of the working directory up to `/`. */
  readonly ancestors: readonly string[];
  /** Whether a path is one of the directories of the run or lies in one. */
  readonly isInside: (path: string) => boolean;
  /** Whether the working directory, the home or the tmp lies below a directory. */
  readonly isAbove: (path: string) => boolean;
  /** Where the account has its home, if that is another directory than the home of the run. */
  readonly accountHome: string | undefined;
  readonly home: string;
  /** What is private to the run and thrown away after it. */
  readonly zones: readonly string[];
  /** Replaces directories in a text, such as an argument or the words of a rule. */
  readonly replaceInText: (text: string) => string;
  /** Replaces a directory that is written into one name: `-home-me-project`. */
  readonly replaceInName: (name: string) => string;
}

/** Below these the parent of the working directory would swallow what every machine has. */
const SYSTEM_TOPS = /^\/(?:usr|etc|bin|sbin|lib|lib32|lib64|proc|sys|dev|run)(?:\/|$)/;

export function makePlaces(record: RunRecord): Places {
  const { cwd, home, tmpdir } = record.variables;
  const tokens = new Map<string, string>();
  const add = (path: string, token: string): void => {
    const clean = trimSlashes(path);
    if (clean !== '' && !tokens.has(clean)) tokens.set(clean, token);
  };
  add(cwd, '${CWD}');
  add(home, '${HOME}');
  add(tmpdir, '${TMPDIR}');
  for (const inside of record.privateTmp) add(inside, '${TMPDIR}');
  for (const users of ['/run/user', '/run/dconf/user'])
    add(`${users}/${record.uid}`, `${users}/\${UID}`);
  const inText = makeTextReplacer(tokens);

  const ancestors = listAncestors(trimSlashes(cwd));
  const [parent = '/'] = ancestors;
  if (ancestors.length > 2 && !SYSTEM_TOPS.test(parent)) add(parent, '${CWD}/..');

  const zones = [...tokens].filter(([, token]) => token === '${TMPDIR}').map(([path]) => path);
  // As nearly every machine has it; nothing depends on it but what stands for a probe.
  const account = record.uid === 0 ? '/root' : `/home/${record.variables.user}`;
  const above = new Set([...tokens.keys()].flatMap(listAncestors));
  return {
    tokens,
    isInside: (path) => [path, ...listAncestors(path)].some((directory) => tokens.has(directory)),
    isAbove: (path) => above.has(path),
    accountHome: tokens.has(account) ? undefined : account,
    home: trimSlashes(home),
    cwd: trimSlashes(cwd),
    ancestors,
    zones: [...zones, '/dev/shm'],
    replaceInText: inText,
    replaceInName: makeNameReplacer([
      [trimSlashes(cwd), '${CWD-}'],
      [trimSlashes(home), '${HOME-}'],
    ]),
  };
}

function trimSlashes(path: string): string {
  return path.replace(/\/+$/, '');
}

function listAncestors(path: string): readonly string[] {
  const found: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    found.push(path.slice(0, at));
  if (path !== '') found.push('/');
  return found;
}

/** What looks like a form of ours, or like one that has been escaped. */
const FORM_LIKE = /\$(?=\\*\{)|<(?=\\*\*>)/g;

/**
 * Keeps what is literal apart from what we put there: a file may well be called `${CWD}` or `<*>`. Two different
 * texts stay different. Other backslashes are left alone: names are escaped already where they have to be.
 */
export function escapeLiteral(text: string): string {
  return text.replace(FORM_LIKE, '$&\\');
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

function makeTextReplacer(tokens: ReadonlyMap<string, string>): (text: string) => string {
  const paths = [...tokens.keys()].sort((a, b) => b.length - a.length);
  const escaped = new Map(paths.map((path) => [escapeLiteral(path), tokens.get(path) ?? path]));
  if (paths.length === 0) return escapeLiteral;
  const pattern = new RegExp(
    `(?<![\\w.\\/-])(?:${[...escaped.keys()].map(escapePattern).join('|')})(?![\\w.-])`,
    'g',
  );
  return (text) => escapeLiteral(text).replace(pattern, (path) => escaped.get(path) ?? path);
}

/** Agents keep what belongs to a project in a directory named for its path, each with its own separator. */
function makeNameReplacer(
  directories: readonly (readonly [string, string])[],
): (name: string) => string {
  const separator = '(?:%[0-9A-Fa-f]{2}|[^0-9A-Za-z/])';
  const rules = directories
    .filter(([path]) => path.length > 1)
    .map(([path, token]) => {
      const parts = path.slice(1).split('/');
      const body = parts.map((part) => part.replace(/[^0-9A-Za-z]/gu, separator)).join(separator);
      // A lone word would be found in too many names.
      const pattern =
        parts.length > 1
          ? `(?<![0-9A-Za-z])${separator}?${body}(?![0-9A-Za-z])`
          : `^${separator}${body}${separator}?$`;
      return { pattern: new RegExp(pattern, 'g'), token, minLength: path.length - 1 };
    })
    .sort((a, b) => b.minLength - a.minLength);
  return (name) => {
    let result = name;
    for (const { pattern, token, minLength } of rules)
      if (result.length >= minLength) result = result.replace(pattern, () => token);
    return result;
  };
}
