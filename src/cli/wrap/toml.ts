import { describePlace, type Span } from './config-document.ts';

/** A value of TOML with its place. What is neither text, list nor table is only passed over. */
export type TomlValue = Span &
  (
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'array'; readonly items: readonly TomlValue[] }
    | { readonly kind: 'table'; readonly entries: readonly TomlEntry[] }
    | { readonly kind: 'other' }
  );

export interface TomlEntry {
  /** From the root of the document: the table's header and the key. */
  readonly path: readonly string[];
  readonly keyStart: number;
  readonly value: TomlValue;
}

/** Every key of the document, those of inline tables included. */
export function parseToml(text: string): TomlEntry[] {
  return new TomlParser(text).parseDocument();
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
};

class TomlParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseDocument(): TomlEntry[] {
    const entries: TomlEntry[] = [];
    let header: readonly string[] = [];
    for (this.#skipLines(); this.#at < this.#text.length; this.#skipLines()) {
      if (this.#take('[')) {
        const isList = this.#take('[');
        header = this.#parseKey();
        if (!this.#take(']') || (isList && !this.#take(']'))) this.#fail('a header has no end');
      } else entries.push(...flatten(this.#parseEntry(header)));
      this.#requireEndOfLine();
    }
    return entries;
  }

  #parseEntry(header: readonly string[]): TomlEntry {
    const keyStart = this.#at;
    const path = [...header, ...this.#parseKey()];
    if (!this.#take('=')) this.#fail('an equals sign is missing');
    this.#skipSpace();
    return { path, keyStart, value: this.#parseValue(path) };
  }

  #parseKey(): string[] {
    const parts: string[] = [];
    do {
      this.#skipSpace();
      const character = this.#text[this.#at];
      if (character === '"' || character === "'") parts.push(this.#parseString());
      else parts.push(this.#takeMatch(/[A-Za-z0-9_-]+/y, 'a key is missing'));
      this.#skipSpace();
    } while (this.#take('.'));
    return parts;
  }

  #parseValue(path: readonly string[]): TomlValue {
    const start = this.#at;
    const character = this.#text[start];
    if (character === '"' || character === "'")
      return { kind: 'string', value: this.#parseString(), start, end: this.#at };
    if (character === '[') return this.#parseArray(path);
    if (character === '{') return this.#parseTable(path);
    this.#takeMatch(/\d{4}-\d\d-\d\d \d[\d:.Zz+-]*|[A-Za-z0-9_+.:-]+/y, 'a value is missing');
    return { kind: 'other', start, end: this.#at };
  }

  #parseArray(path: readonly string[]): TomlValue {
    const start = this.#at;
    const items: TomlValue[] = [];
    this.#at += 1;
    for (this.#skipLines(); !this.#take(']'); this.#skipLines()) {
      items.push(this.#parseValue(path));
      this.#skipLines();
      if (!this.#take(',') && this.#text[this.#at] !== ']') this.#fail('a comma is missing');
    }
    return { kind: 'array', items, start, end: this.#at };
  }

  #parseTable(path: readonly string[]): TomlValue {
    const start = this.#at;
    const entries: TomlEntry[] = [];
    this.#at += 1;
    for (this.#skipLines(); !this.#take('}'); this.#skipLines()) {
      entries.push(this.#parseEntry(path));
      this.#skipLines();
      if (!this.#take(',') && this.#text[this.#at] !== '}') this.#fail('a comma is missing');
    }
    return { kind: 'table', entries, start, end: this.#at };
  }

  #parseString(): string {
    const text = this.#text.slice(this.#at);
    const found =
      /^"""([\s\S]*?)"{3,5}/.exec(text) ??
      /^'''([\s\S]*?)'{3,5}/.exec(text) ??
      /^"((?:[^"\\\n]|\\.)*)"/.exec(text) ??
      /^'([^'\n]*)'/.exec(text);
    if (!found) return this.#fail('a string has no end');
    this.#at += found[0].length;
    const isLiteral = found[0].startsWith("'");
    // Of a text of several lines the first break does not count, nor does one behind a backslash.
    const inner = (found[1] ?? '').replace(/^\r?\n/, '');
    return isLiteral ? inner : this.#unescape(inner.replaceAll(/\\[ \t]*\r?\n\s*/g, ''));
  }

  #unescape(text: string): string {
    return text.replace(
      /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g,
      (_, short: string | undefined, long: string | undefined, one: string | undefined) => {
        if (one === undefined) return String.fromCodePoint(parseInt(short ?? long ?? '0', 16));
        return ESCAPES[one] ?? this.#fail('there is no such escape');
      },
    );
  }

  #requireEndOfLine(): void {
    this.#skipSpace();
    if (this.#text[this.#at] === '#') this.#takeMatch(/[^\n]*/y, '');
    const next = this.#text[this.#at];
    if (next !== undefined && next !== '\n' && next !== '\r') this.#fail('a line goes on');
  }

  #skipLines(): void {
    this.#takeMatch(/(?:\s+|#[^\n]*)*/y, '');
  }

  #skipSpace(): void {
    this.#takeMatch(/[ \t]*/y, '');
  }

  #takeMatch(pattern: RegExp, message: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return this.#fail(message);
    this.#at += found[0].length;
    return found[0];
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #fail(message: string): never {
    throw new Error(`${describePlace(this.#text, this.#at)}: ${message}`);
  }
}

function flatten(entry: TomlEntry): TomlEntry[] {
  const inner = entry.value.kind === 'table' ? entry.value.entries.flatMap(flatten) : [];
  return [entry, ...inner];
}
