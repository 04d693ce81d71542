import type { ParsedSource, SourceNode, SourcePair } from './source-node.ts';

const MAX_DEPTH = 32;

/**
 * Strict JSON with positions and with repeated keys kept, so that both can be reported. `JSON.parse` gives neither;
 * it still judges every string and number here.
 */
export function readJson(text: string): ParsedSource {
  const reader = new JsonReader(text);
  try {
    return { root: reader.readDocument() };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { problems: [{ offset: error.offset, problem: error.message }] };
  }
}

class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.#at = 1;
  }

  readDocument(): SourceNode {
    const root = this.#readValue(0);
    if (this.#peek() !== '') throw this.#fail('expected the end of the file');
    return root;
  }

  #readValue(depth: number): SourceNode {
    if (depth > MAX_DEPTH) throw this.#fail('nested too deeply');
    const next = this.#peek();
    if (next === '{') return this.#readMap(depth);
    if (next === '[') return this.#readList(depth);
    const offset = this.#at;
    if (next === '"') {
      const value = this.#readString();
      return { kind: 'scalar', offset, value, text: value };
    }
    const word = this.#take(/[\w.+-]+/y) ?? '';
    const value = this.#parse(word, 'expected a JSON value');
    this.#at += word.length;
    return { kind: 'scalar', offset, value: value as number | boolean | null, text: word };
  }

  #readMap(depth: number): SourceNode {
    const offset = this.#at;
    const pairs: SourcePair[] = [];
    this.#readSequence('}', () => {
      if (this.#peek() !== '"') throw this.#fail('expected a key in double quotes');
      const keyOffset = this.#at;
      const key = this.#readString();
      if (this.#peek() !== ':') throw this.#fail('expected `:`');
      this.#at++;
      pairs.push({ key, keyOffset, value: this.#readValue(depth + 1) });
    });
    return { kind: 'map', offset, pairs };
  }

  #readList(depth: number): SourceNode {
    const offset = this.#at;
    const items: SourceNode[] = [];
    this.#readSequence(']', () => items.push(this.#readValue(depth + 1)));
    return { kind: 'list', offset, items };
  }

  #readSequence(close: string, readItem: () => void): void {
    this.#at++;
    if (this.#peek() === close) {
      this.#at++;
      return;
    }
    for (;;) {
      readItem();
      const next = this.#peek();
      if (next !== ',' && next !== close) throw this.#fail(`expected \`,\` or \`${close}\``);
      this.#at++;
      if (next === close) return;
    }
  }

  #readString(): string {
    // oxlint-disable-next-line no-control-regex
    const raw = this.#take(/"(?:[^"\\\u0000-\u001f]|\\.)*"/y) ?? '"';
    const value = this.#parse(raw, 'expected a valid JSON string');
    this.#at += raw.length;
    return value as string;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #parse(raw: string, expectation: string): unknown {
    try {
      return JSON.parse(raw);
    } catch {
      throw this.#fail(expectation);
    }
  }

  /** The next character that is not white space; empty at the end. */
  #peek(): string {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
    return this.#text.charAt(this.#at);
  }

  #fail(message: string): JsonSyntaxError {
    return new JsonSyntaxError(message, this.#at);
  }
}
