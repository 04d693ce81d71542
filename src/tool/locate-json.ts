import type { ValuePath } from './schema.ts';

/**
 * Where in a JSON text a value stands; of a member, where its name does. The text must be good JSON. A path that is not
 * there is where its nearest parent is.
 */
export function locateInJson(text: string, path: ValuePath): number {
  let at = skipSpace(text, 0);
  let shown = at;
  for (const step of path) {
    const found = typeof step === 'number' ? findItem(text, at, step) : findMember(text, at, step);
    if (!found) break;
    at = found.value;
    shown = found.shown;
  }
  return shown;
}

interface Found {
  /** Where a reader should look. */
  readonly shown: number;
  readonly value: number;
}

function findItem(text: string, start: number, index: number): Found | undefined {
  let at = skipSpace(text, start + 1);
  for (let item = 0; text[at] !== ']'; item++) {
    if (item === index) return { shown: at, value: at };
    at = skipComma(text, skipValue(text, at));
  }
  return undefined;
}

function findMember(text: string, start: number, name: string): Found | undefined {
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}') {
    const end = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === name) return { shown: at, value };
    at = skipComma(text, skipValue(text, value));
  }
  return undefined;
}

function skipValue(text: string, start: number): number {
  if (text[start] === '"') return skipString(text, start);
  let depth = 0;
  let at = start;
  do {
    const character = text[at];
    if (character === '"') {
      at = skipString(text, at);
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (depth === 0 && (character === ',' || character === undefined)) return at;
    if (depth < 0) return at;
    at += 1;
  } while (depth > 0 || !/[\s,}\]]/.test(text[at] ?? ','));
  return at;
}

function skipString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipComma(text: string, start: number): number {
  const at = skipSpace(text, start);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}
