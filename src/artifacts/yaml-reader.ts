import { type PlainValue, RESERVED } from './yaml-text.ts';

/**
 * Reads what writeYaml() writes, and nothing else: undefined for any other text, which may well be YAML. A library takes
 * minutes and gigabytes for a profile with 200,000 files.
 */
export function readPlainYaml(text: string): PlainValue | undefined {
  try {
    return new Reader(text).read();
  } catch (error) {
    if (error instanceof Unexpected || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class Unexpected extends Error {}

/** A string of JSON, or a plain word, before a colon. */
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
const WORD = /[A-Za-z_][\w.-]*(?=:(?: |\n))/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.endsWith('\n') ? text : `${text}\n`;
  }

  read(): PlainValue {
    const value = this.#startsMember() || this.#is('- ') ? this.#block(0) : this.#scalar();
    if (this.#at !== this.#text.length) throw new Unexpected();
    return value;
  }

  /** A list or a map whose entries stand at `indent`; the reader is behind the white space of its first line. */
  #block(indent: number): PlainValue {
    return this.#is('- ') ? this.#list(indent) : this.#map(indent);
  }

  #list(indent: number): PlainValue[] {
    const items: PlainValue[] = [];
    do {
      this.#take('- ');
      const isBlock = this.#is('- ') || this.#startsMember();
      items.push(isBlock ? this.#block(indent + 2) : this.#scalar());
    } while (this.#isIndented(indent, '- '));
    return items;
  }

  #map(indent: number): { [key: string]: PlainValue } {
    const map: { [key: string]: PlainValue } = {};
    do {
      const key = this.#key(indent);
      if (Object.hasOwn(map, key) || key === '__proto__') throw new Unexpected();
      map[key] = this.#member(indent);
    } while (this.#isIndented(indent, ''));
    return map;
  }

  #member(indent: number): PlainValue {
    this.#take(':');
    if (!this.#is('\n')) {
      this.#take(' ');
      return this.#scalar();
    }
    this.#take('\n');
    this.#take(' '.repeat(indent + 2));
    return this.#block(indent + 2);
  }

  #key(indent: number): string {
    const isAnnounced = this.#is('? ');
    if (isAnnounced) this.#take('? ');
    const word = isAnnounced ? undefined : this.#match(WORD);
    if (word !== undefined && RESERVED.test(word)) throw new Unexpected();
    if (word !== undefined) return word;
    const string = this.#match(STRING);
    if (string === undefined) throw new Unexpected();
    if (isAnnounced) this.#take(`\n${' '.repeat(indent)}`);
    return JSON.parse(string) as string;
  }

  /** All that stands on one line is JSON. */
  #scalar(): PlainValue {
    const end = this.#text.indexOf('\n', this.#at);
    const value = JSON.parse(this.#text.slice(this.#at, end)) as PlainValue;
    this.#at = end + 1;
    return value;
  }

  #startsMember(): boolean {
    if (this.#is('? ')) return true;
    const start = this.#at;
    const isKey =
      this.#match(WORD) !== undefined || (this.#match(STRING) !== undefined && this.#is(':'));
    this.#at = start;
    return isKey;
  }

  /** Whether the next line starts so, and if it does, goes behind the white space. */
  #isIndented(indent: number, mark: string): boolean {
    const start = ' '.repeat(indent);
    const isMore =
      this.#at < this.#text.length &&
      this.#is(start + mark) &&
      this.#text[this.#at + indent] !== ' ';
    if (isMore) this.#at += indent;
    return isMore;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #is(expected: string): boolean {
    return this.#text.startsWith(expected, this.#at);
  }

  #take(expected: string): void {
    if (!this.#is(expected)) throw new Unexpected();
    this.#at += expected.length;
  }
}
