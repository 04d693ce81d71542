import { expandBraces } from './braces.ts';
import { escapeLiteral, isLiteral, splitPath } from './glob.ts';
import type { Variables } from './policy.ts';
import { quote, type Refusal } from './problems.ts';
import { readSet, toCodes } from './segment.ts';

export interface ExpandOptions {
  readonly variables: Variables;
  /**
   * What an entry without any slash means. Least authority in each direction: in a list that refuses (`fs.deny`,
   * `fs.protect`) it is that name at any depth, anywhere; in a list that grants it is one place below `${CWD}`.
   */
  readonly isNameAnywhere: boolean;
}

export type Expansion = { readonly patterns: readonly string[] } | Refusal;

/** A path that is already its own pattern. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.+-]+)+$/;

/** How the entries of the presets begin, which are on the way of every start. */
const BASES = [
  ['~', 'home'],
  ['${CWD}', 'cwd'],
] as const;

/** One entry as the user wrote it → the absolute patterns it stands for. A pattern expands to itself. */
export function expandEntry(text: string, options: ExpandOptions): Expansion {
  const plain = readPlain(text, options.variables);
  if (plain !== undefined) return { patterns: [plain] };
  if (text === '') return { problem: 'an entry is empty' };
  if (text.includes('\0')) return { problem: 'an entry holds a NUL byte' };
  // No path has it, and no evidence could name the entry.
  if (!text.isWellFormed()) return { problem: 'an entry holds half of a surrogate pair' };
  if (text.startsWith('!')) {
    return {
      problem: `${quote(text)} starts with !, but there are no negated entries`,
      hint: 'refuse with fs.deny or fs.protect; write \\! for a file name that starts with !',
    };
  }
  const alternatives = expandBraces(text);
  if ('problem' in alternatives) return alternatives;
  const patterns: string[] = [];
  for (const alternative of alternatives) {
    const substituted = substituteVariables(alternative, options.variables);
    if (typeof substituted !== 'string') return substituted;
    const pattern = toPattern(substituted, options);
    if (typeof pattern !== 'string') return pattern;
    if (!patterns.includes(pattern)) patterns.push(pattern);
  }
  return { patterns };
}

/** What nearly all entries are: a plain path, as it is or below a directory of the run. */
function readPlain(text: string, variables: Variables): string | undefined {
  const [beginning, name] = BASES.find(([start]) => text.startsWith(start)) ?? ['', undefined];
  const rest = text.slice(beginning.length);
  if (rest !== '' && !rest.startsWith('/')) return undefined;
  const path = name === undefined ? rest : variables[name] + rest;
  return PLAIN.test(path) ? path : undefined;
}

const PATH_VARIABLES: Readonly<Record<string, 'cwd' | 'home' | 'tmpdir'>> = {
  CWD: 'cwd',
  HOME: 'home',
  TMPDIR: 'tmpdir',
};

/** `~` and `${…}` replaced by their values, which are escaped: a `*` in the name of a directory is no wildcard. */
export function substituteVariables(text: string, variables: Variables): string | Refusal {
  let out = '';
  let at = 0;
  if (text === '~' || text.startsWith('~/')) {
    const home = valueOf('HOME', 0, variables);
    if (typeof home !== 'string') return home;
    out = home;
    at = 1;
  } else if (text.startsWith('~')) {
    return {
      problem: `${quote(text.split('/')[0] ?? '')} is not expanded: only ~ and ~/ are`,
      hint: 'write the path of that home in full, or \\~ for a file name that starts with ~',
    };
  }
  while (at < text.length) {
    if (text[at] === '\\') {
      out += text.slice(at, at + 2);
      at += 2;
    } else if (text.startsWith('${', at)) {
      const end = text.indexOf('}', at);
      if (end < 0) return { problem: 'a ${ is never closed', hint: 'write \\$ for a dollar sign' };
      const value = valueOf(text.slice(at + 2, end), at, variables);
      if (typeof value !== 'string') return value;
      out += value;
      at = end + 1;
    } else if (text[at] === '$' && /[A-Za-z_]/.test(text[at + 1] ?? '')) {
      const name = /^\w+/.exec(text.slice(at + 1))?.[0] ?? '';
      return {
        problem: `$${name} is not expanded`,
        hint: `write \${${name}}, or \\$ for a dollar sign`,
      };
    } else {
      out += text[at] === '$' ? '\\$' : text[at];
      at++;
    }
  }
  return out;
}

function valueOf(name: string, at: number, variables: Variables): string | Refusal {
  if (name === 'USER') {
    if (variables.user !== '' && !/[/\0]/.test(variables.user))
      return escapeLiteral(variables.user);
    return { problem: '${USER} has no usable value in this run' };
  }
  const key = PATH_VARIABLES[name];
  if (key === undefined) {
    return {
      problem: `unknown variable ${quote(`\${${name}}`)}`,
      hint: 'known are ${CWD}, ${HOME}, ${TMPDIR} and ${USER}',
    };
  }
  if (at > 0) {
    return { problem: `\${${name}} is a whole path, so it can only start an entry` };
  }
  const value = variables[key];
  if (!value.startsWith('/') || value.includes('\0')) {
    return { problem: `\${${name}} is not an absolute path in this run` };
  }
  return escapeLiteral(value);
}

function toPattern(text: string, options: ExpandOptions): string | Refusal {
  const segments: string[] = [];
  for (const raw of splitPath(text)) {
    // Before anything looks at them: `\..` is a way to write `..` as well.
    const segment = toCanonicalSegment(raw);
    if (typeof segment !== 'string') return segment;
    segments.push(segment);
  }
  while (segments.at(-1) === '**') segments.pop();
  const isAbsolute = text.startsWith('/');
  // A name, a name with a slash behind it and a name with `/**` behind it are all "without any slash".
  const isName =
    !isAbsolute &&
    segments.length <= 1 &&
    segments[0] !== '.' &&
    segments[0] !== '..' &&
    options.isNameAnywhere;
  if (isName) segments.unshift('**');
  else if (!isAbsolute) {
    const base = valueOf('CWD', 0, options.variables);
    if (typeof base !== 'string') return base;
    segments.unshift(...splitPath(base));
  }
  const out: string[] = [];
  for (const segment of segments) {
    if (segment === '.' || (segment === '**' && out.at(-1) === '**')) continue;
    if (segment === '..') {
      const parent = out.pop();
      if (parent !== undefined && !isLiteral(parent)) {
        return { problem: '.. behind a wildcard has no single meaning', hint: 'leave the .. out' };
      }
      continue;
    }
    out.push(segment);
  }
  while (out.at(-1) === '**') out.pop();
  return `/${out.join('/')}`;
}

/** One spelling for each segment: a literal special character is escaped, no other character is. */
function toCanonicalSegment(segment: string): string | Refusal {
  if (segment === '**') return segment;
  const codes = toCodes(segment);
  let out = '';
  let at = 0;
  while (at < codes.length) {
    const char = String.fromCodePoint(codes[at] ?? 0);
    const next = codes[at + 1];
    if (char === '\\') {
      if (next === undefined) {
        return {
          problem: 'a backslash has no character to escape',
          hint: 'write \\\\ for a backslash',
        };
      }
      out += escapeLiteral(String.fromCodePoint(next));
      at += 2;
    } else if (char === '[') {
      const set = readSet(codes, at);
      if (!set)
        return { problem: 'a [ is never closed', hint: 'write \\[ for a bracket in a file name' };
      const text = String.fromCodePoint(...codes.slice(at, set.next));
      if (/^\[[!^]?\[[:.=]/.test(text)) {
        return {
          problem: `${quote(text)} is not supported`,
          hint: 'write the characters as a range, such as [a-z]',
        };
      }
      if (set.token.ranges.some(([low, high]) => low > high)) {
        return { problem: `the range in ${quote(text)} runs backwards` };
      }
      out += text;
      at = set.next;
    } else if (char === '*' && next === codes[at]) {
      return { problem: '** must stand alone between slashes', hint: 'write **/* or a single *' };
    } else {
      out += char === '*' || char === '?' ? char : escapeLiteral(char);
      at++;
    }
  }
  return out;
}
