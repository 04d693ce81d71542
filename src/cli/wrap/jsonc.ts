import { describePlace, type Span } from './config-document.ts';

/** JSON with comments and commas at the end, and where everything stands in the text. */
export type JsonNode = Span &
  (
    | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
    | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'other' }
  );

export interface JsonMember {
  readonly name: string;
  readonly nameStart: number;
  readonly value: JsonNode;
}

const MAX_DEPTH = 200;

export function parseJsonc(text: string): JsonNode {
  const parser = new JsoncParser(text);
  return parser.parseDocument();
}

/** Of two members with one name the last counts, as it does for those who read the file. */
export function findMember(node: JsonNode | undefined, name: string): JsonMember | undefined {
  if (node?.kind !== 'object') return undefined;
  return node.members.findLast((member) => member.name === name);
}

class JsoncParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseDocument(): JsonNode {
    if (this.#text.startsWith('\uFEFF')) this.#at = 1;
    this.#skip();
    const node = this.#parseValue(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('something follows the value');
    return node;
  }

  #parseValue(depth: number): JsonNode {
    if (depth > MAX_DEPTH) this.#fail('it is nested too deep');
    const start = this.#at;
    const character = this.#text[start];
    if (character === '{') return this.#parseObject(depth);
    if (character === '[') return this.#parseArray(depth);
    if (character === '"')
      return { kind: 'string', value: this.#parseString(), start, end: this.#at };
    const word = /[^\s,\]}:[{"/]*/y;
    word.lastIndex = start;
    const [found = ''] = word.exec(this.#text) ?? [];
    if (!/^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(found)) this.#fail('a value is missing');
    this.#at += found.length;
    return { kind: 'other', start, end: this.#at };
  }

  #parseObject(depth: number): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#at += 1;
    for (this.#skip(); !this.#take('}'); this.#skip()) {
      if (members.length > 0) this.#fail('a comma or a closing brace is missing');
      this.#parseMembers(members, depth);
    }
    return { kind: 'object', members, start, end: this.#at };
  }

  /** One after the other as long as there are commas. */
  #parseMembers(members: JsonMember[], depth: number): void {
    do {
      this.#skip();
      if (this.#text[this.#at] === '}') return;
      const nameStart = this.#at;
      if (this.#text[nameStart] !== '"') this.#fail('the name of a member is missing');
      const name = this.#parseString();
      this.#skip();
      if (!this.#take(':')) this.#fail('a colon is missing');
      this.#skip();
      members.push({ name, nameStart, value: this.#parseValue(depth + 1) });
      this.#skip();
    } while (this.#take(','));
  }

  #parseArray(depth: number): JsonNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#at += 1;
    this.#skip();
    while (this.#text[this.#at] !== ']') {
      items.push(this.#parseValue(depth + 1));
      this.#skip();
      if (this.#take(',')) this.#skip();
      else if (this.#text[this.#at] !== ']') this.#fail('a comma or a closing bracket is missing');
    }
    this.#at += 1;
    return { kind: 'array', items, start, end: this.#at };
  }

  #parseString(): string {
    const string = /"(?:[^"\\\n]|\\.)*"/y;
    string.lastIndex = this.#at;
    const found = string.exec(this.#text);
    if (!found) return this.#fail('a string has no end');
    try {
      const value = JSON.parse(found[0]) as string;
      this.#at += found[0].length;
      return value;
    } catch {
      return this.#fail('a string cannot be read');
    }
  }

  /** Space and comments. */
  #skip(): void {
    const space = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    space.lastIndex = this.#at;
    space.test(this.#text);
    this.#at = space.lastIndex;
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
