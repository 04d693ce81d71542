/*
 * JSON.parse() keeps the last of two members with one name, turns 1e400 into infinity and takes half of a surrogate
 * pair. Two readers may then see two documents in one text. This finds all of that.
 */

export interface JsonLimits {
  /** Objects and arrays inside each other. */
  readonly depth: number;
  /** Members of one object. */
  readonly keys: number;
  /** UTF-16 code units of one string, after unescaping. */
  readonly stringLength: number;
  /** Also refuse integers that no double holds exactly. */
  readonly isExact?: boolean;
}

export type JsonProblemKind =
  'syntax' | 'duplicate-key' | 'lone-surrogate' | 'number' | 'depth' | 'keys' | 'string-length';

export interface JsonProblem {
  readonly kind: JsonProblemKind;
  /** UTF-16 code units before it. */
  readonly offset: number;
  readonly message: string;
}

/** The first problem of a JSON text; none means that JSON.parse() reads exactly what the text says. */
export function findJsonProblem(text: string, limits: JsonLimits): JsonProblem | undefined {
  const scanner = new Scanner(text, limits);
  try {
    scanner.scanDocument();
  } catch (problem) {
    if (problem instanceof Found) return problem.problem;
    throw problem;
  }
  return undefined;
}

class Found extends Error {
  readonly problem: JsonProblem;

  constructor(problem: JsonProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

const HALF_PAIR = /\p{Surrogate}/u;

class Scanner {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  readonly #plain = /[^"\\\u0000-\u001f]*/y;
  #at = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  scanDocument(): void {
    this.#scanValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('syntax', 'something follows the value');
  }

  #scanValue(depth: number): void {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character === '{') this.#scanObject(depth + 1);
    else if (character === '[') this.#scanArray(depth + 1);
    else if (character === '"') this.#scanString();
    else if (character === '-' || (character !== undefined && character >= '0' && character <= '9'))
      this.#scanNumber();
    else this.#scanWord();
  }

  #scanObject(depth: number): void {
    this.#checkDepth(depth);
    this.#at += 1;
    const names = new Set<string>();
    if (this.#take('}')) return;
    do {
      this.#skipSpace();
      const at = this.#at;
      if (this.#text[at] !== '"') this.#fail('syntax', 'the name of a member is missing');
      const name = this.#scanString();
      if (names.has(name))
        this.#fail('duplicate-key', `the name ${JSON.stringify(clip(name))} is there twice`, at);
      names.add(name);
      if (names.size > this.#limits.keys)
        this.#fail('keys', `an object has more than ${this.#limits.keys} members`, at);
      if (!this.#take(':')) this.#fail('syntax', 'a colon is missing');
      this.#scanValue(depth);
    } while (this.#take(','));
    if (!this.#take('}')) this.#fail('syntax', 'a comma or a closing brace is missing');
  }

  #scanArray(depth: number): void {
    this.#checkDepth(depth);
    this.#at += 1;
    if (this.#take(']')) return;
    do this.#scanValue(depth);
    while (this.#take(','));
    if (!this.#take(']')) this.#fail('syntax', 'a comma or a closing bracket is missing');
  }

  /** Returns what the string says. */
  #scanString(): string {
    const start = this.#at;
    let isEscaped = false;
    this.#at += 1;
    for (;;) {
      this.#plain.lastIndex = this.#at;
      this.#plain.test(this.#text);
      this.#at = this.#plain.lastIndex;
      const character = this.#text[this.#at];
      if (character === '"') break;
      if (character !== '\\')
        this.#fail(
          'syntax',
          character === undefined ? 'a string has no end' : 'a string has a control character',
        );
      isEscaped = true;
      this.#skipEscape();
    }
    this.#at += 1;
    const written = this.#text.slice(start, this.#at);
    const value = isEscaped ? (JSON.parse(written) as string) : written.slice(1, -1);
    if (HALF_PAIR.test(value))
      this.#fail('lone-surrogate', 'a string has half of a surrogate pair', start);
    if (value.length > this.#limits.stringLength)
      this.#fail(
        'string-length',
        `a string is longer than ${this.#limits.stringLength} characters`,
        start,
      );
    return value;
  }

  #skipEscape(): void {
    const kind = this.#text[this.#at + 1];
    if (kind === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(this.#text.slice(this.#at + 2, this.#at + 6)))
        this.#fail('syntax', 'an escape has no four hexadecimal digits');
      this.#at += 6;
    } else if (kind !== undefined && '"\\/bfnrt'.includes(kind)) this.#at += 2;
    else this.#fail('syntax', 'there is no such escape');
  }

  #scanNumber(): void {
    this.#number.lastIndex = this.#at;
    const [written] =
      this.#number.exec(this.#text) ?? this.#fail('syntax', 'a number is malformed');
    const value = Number(written);
    if (!Number.isFinite(value)) this.#fail('number', `the number ${clip(written)} is too large`);
    // Short integers are exact, and most are short. A long one is compared as text, in linear time.
    if (
      this.#limits.isExact === true &&
      written.length > 15 &&
      /^-?[0-9]+$/.test(written) &&
      (written.length > 310 || BigInt(written) !== BigInt(value))
    )
      this.#fail('number', `no double holds the integer ${clip(written)}`);
    this.#at += written.length;
  }

  #scanWord(): void {
    for (const word of ['true', 'false', 'null'])
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return;
      }
    this.#fail('syntax', 'a value is missing');
  }

  #checkDepth(depth: number): void {
    if (depth > this.#limits.depth)
      this.#fail('depth', `it is nested deeper than ${this.#limits.depth} levels`);
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(kind: JsonProblemKind, message: string, offset = this.#at): never {
    throw new Found({ kind, offset, message });
  }
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
