import type { Refusal } from './problems.ts';

/** More alternatives than this in one entry is a mistake or an attack on the loader. */
const MAX_ALTERNATIVES = 64;

/**
 * `a{b,c}` → `ab`, `ac`; sets may be nested. As in a shell, braces without a comma stand for themselves (they
 * come out escaped). `${…}` is left alone.
 */
export function expandBraces(text: string): readonly string[] | Refusal {
  const open = findOpen(text);
  if (open < 0) return [text];
  const set = readSet(text, open);
  if (!set) {
    return { problem: 'a { is never closed', hint: 'write \\{ for a brace in a file name' };
  }
  const tails = expandBraces(text.slice(set.end + 1));
  if ('problem' in tails) return tails;
  const middles: string[] = [];
  for (const part of set.parts) {
    const expanded = expandBraces(part);
    if ('problem' in expanded) return expanded;
    middles.push(...(set.parts.length === 1 ? expanded.map((s) => `\\{${s}\\}`) : expanded));
    if (middles.length * tails.length > MAX_ALTERNATIVES) {
      return {
        problem: `the { } sets stand for more than ${MAX_ALTERNATIVES} paths`,
        hint: 'use a wildcard, or several entries',
      };
    }
  }
  const head = text.slice(0, open);
  return middles.flatMap((middle) => tails.map((tail) => head + middle + tail));
}

/** The next position, with escapes and `${…}` skipped. */
function step(text: string, at: number): number {
  if (text[at] === '\\') return at + 2;
  if (text.startsWith('${', at)) {
    const end = text.indexOf('}', at);
    return end < 0 ? at + 2 : end + 1;
  }
  return at + 1;
}

function findOpen(text: string): number {
  for (let at = 0; at < text.length; at = step(text, at)) {
    if (text[at] === '{') return at;
  }
  return -1;
}

function readSet(text: string, open: number): { parts: string[]; end: number } | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open; at < text.length; at = step(text, at)) {
    const char = text[at];
    if (char === '{') depth++;
    else if (char === '}' && --depth === 0) {
      parts.push(text.slice(start, at));
      return { parts, end: at };
    } else if (char === ',' && depth === 1) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return undefined;
}
