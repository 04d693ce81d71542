import { matchSegment } from './segment.ts';

/*
 * The pattern language. `native/match.c` is the twin of this file: change both or neither.
 *
 * - Pattern and path are absolute and normalised (no empty, `.` or `..` segment). Both are split at `/`.
 * - A pattern covers a path when it matches the path itself or one of its parents ("exact or below").
 *   The pattern `/` has no segment and covers everything.
 * - A segment that is exactly `**` matches zero or more whole segments, those with a leading dot included.
 * - In any other segment: `*` matches zero or more characters, `?` exactly one, also a leading dot, never `/`.
 * - `[…]` matches one character of a set; `[!…]` and `[^…]` one outside it. `a-z` is a range by code point. A
 *   `]` that comes first, and a `-` that comes first or last, stand for themselves. A `[` that is never closed
 *   stands for itself.
 * - A backslash makes the next character stand for itself, in a set as well.
 * - Comparison is case-exact. A character is one code point: in UTF-8, a byte and the continuation bytes
 *   (0x80 to 0xBF) that follow it. Nothing is normalised, so a name that is not valid UTF-8 is compared as
 *   whatever the caller decoded it to.
 */

/** covers: the path is matched. leads: something below it can be. apart: nothing at or below it can be. */
type Relation = 'covers' | 'leads' | 'apart';

/** What is no literal, or may be one that is escaped. */
const WILD = /[*?[\\]/;

/** Characters that mean something in a policy entry or a pattern; a literal one is written with a backslash. */
const SPECIAL = /[*?[\]{}\\$]/g;

function comparePattern(pattern: string, path: string): Relation {
  if (!WILD.test(pattern)) return compareLiteral(pattern, path);
  const wanted = splitPath(pattern);
  let states = new Set<number>();
  addState(states, wanted, 0);
  for (const name of splitPath(path)) {
    if (states.has(wanted.length)) return 'covers';
    const next = new Set<number>();
    for (const state of states) {
      const segment = wanted[state] ?? '';
      if (segment === '**') addState(next, wanted, state);
      else if (matchSegment(segment, name)) addState(next, wanted, state + 1);
    }
    if (next.size === 0) return 'apart';
    states = next;
  }
  return states.has(wanted.length) ? 'covers' : 'leads';
}

export function matchPattern(pattern: string, path: string): boolean {
  // Most patterns end in a name that is nowhere in the path.
  const name = pattern.slice(pattern.lastIndexOf('/') + 1);
  if (!path.includes(name) && !WILD.test(name)) return false;
  return comparePattern(pattern, path) === 'covers';
}

/** Could something strictly below `dir` be covered by `pattern`? */
export function canMatchBelow(pattern: string, dir: string): boolean {
  return comparePattern(pattern, dir) !== 'apart';
}

/** Does the pattern name exactly one place? */
export function isLiteral(pattern: string): boolean {
  return !WILD.test(pattern) || !/[*?[]/.test(pattern.replace(/\\./gs, ''));
}

/** The longest leading directory without a wildcard, unescaped; for a literal pattern the path itself. */
export function literalPrefix(pattern: string): string {
  const segments = splitPath(pattern);
  const wild = segments.findIndex((segment) => !isLiteral(segment));
  return unescapeLiteral(`/${segments.slice(0, wild < 0 ? undefined : wild).join('/')}`);
}

/** A real path as a pattern that matches just it and what is below. */
export function escapeLiteral(path: string): string {
  return path.replace(SPECIAL, '\\$&');
}

export function unescapeLiteral(pattern: string): string {
  return pattern.includes('\\') ? pattern.replace(/\\(.)/gs, '$1') : pattern;
}

export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** `**` may match nothing, so being at one means being behind it as well. */
function addState(states: Set<number>, wanted: readonly string[], state: number): void {
  states.add(state);
  for (let at = state; wanted[at] === '**'; at++) states.add(at + 1);
}

function compareLiteral(pattern: string, path: string): Relation {
  if (pattern === path || pattern === '/' || path.startsWith(`${pattern}/`)) return 'covers';
  return path === '/' || pattern.startsWith(`${path}/`) ? 'leads' : 'apart';
}
