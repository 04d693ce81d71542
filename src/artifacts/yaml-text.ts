import { toPrintableJson } from '../core/printable.ts';
/*
 * Plain block YAML for values that JSON can hold, in pieces, so that a large value never stands in memory as one text.
 * Every key that is not a plain word and every string is in double quotes, with nothing in them that a reader of YAML
 * 1.1 or 1.2 could take for something else. A writer of a library would do the same, in many times the time and memory.
 */

export type PlainValue =
  string | number | boolean | null | readonly PlainValue[] | { readonly [key: string]: PlainValue };

const MAX_FLOW_LENGTH = 100;
const MAX_KEY_LENGTH = 1000;
const PIECE_LENGTH = 1 << 16;

/** Words that are no text to some reader of YAML: `no` is a boolean to one of version 1.1. */
export const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** Nothing in it needs an escape. */
const SIMPLE = /^[ !#-[\]-~]*$/;

/** YAML forbids these. */
const UNSAFE = /[\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

export function quoteYaml(text: string): string {
  if (SIMPLE.test(text)) return `"${text}"`;
  return toPrintableJson(text).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function* writeYaml(value: PlainValue): Generator<string> {
  const flow = writeFlow(value);
  if (flow !== undefined) {
    yield `${flow}\n`;
    return;
  }
  let piece = '';
  const writer = new BlockWriter();
  for (const block of writer.blocks(value, '')) {
    piece += block;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** A value of more members than this is given out member by member. */
const MAX_WHOLE = 64;

class BlockWriter {
  /** Texts of objects that occur more than once, by their depth: many files share what was done to them. */
  readonly #known = new Map<string, WeakMap<object, string>>();

  *blocks(value: PlainValue, indent: string): Generator<string> {
    if (!isLarge(value)) {
      yield this.#write(value, indent);
      return;
    }
    if (isList(value)) {
      for (const item of value) yield this.#writeItem(item, indent);
      return;
    }
    for (const key of Object.keys(value)) {
      const member = value[key] as PlainValue;
      if (!isLarge(member)) yield this.#writeMember(key, member, indent);
      else {
        yield `${indent}${writeKey(key, indent)}:\n`;
        yield* this.blocks(member, `${indent}  `);
      }
    }
  }

  #write(value: PlainValue, indent: string): string {
    if (typeof value !== 'object' || value === null) return '';
    let known = this.#known.get(indent);
    if (!known) {
      known = new WeakMap();
      this.#known.set(indent, known);
    }
    let text = known.get(value);
    if (text === undefined) {
      text = '';
      if (isList(value)) for (const item of value) text += this.#writeItem(item, indent);
      else
        for (const key of Object.keys(value))
          text += this.#writeMember(key, value[key] as PlainValue, indent);
      known.set(value, text);
    }
    return text;
  }

  #writeItem(item: PlainValue, indent: string): string {
    const flow = writeFlow(item);
    if (flow !== undefined) return `${indent}- ${flow}\n`;
    // The first line of what is inside stands behind the dash.
    return `${indent}- ${this.#write(item, `${indent}  `).slice(indent.length + 2)}`;
  }

  #writeMember(key: string, member: PlainValue, indent: string): string {
    const name = indent + writeKey(key, indent);
    const flow = writeFlow(member);
    if (flow !== undefined) return `${name}: ${flow}\n`;
    return `${name}:\n${this.#write(member, `${indent}  `)}`;
  }
}

/** With many members, or with a member that has many. */
function isLarge(
  value: PlainValue,
): value is Exclude<PlainValue, string | number | boolean | null> {
  if (typeof value !== 'object' || value === null) return false;
  if (isList(value)) return value.length > MAX_WHOLE;
  const keys = Object.keys(value);
  return keys.length > MAX_WHOLE || keys.some((key) => isLarge(value[key] as PlainValue));
}

function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value);
}

/** On one line, where that is short: scalars, and lists and maps of few of them. */
function writeFlow(value: PlainValue): string | undefined {
  if (typeof value === 'string') return quoteYaml(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isList(value)) {
    if (value.length === 0) return '[]';
    if (value.length > 4 || value.some((item) => typeof item === 'object' && item !== null))
      return undefined;
    const text = `[${value.map((item) => writeFlow(item)).join(', ')}]`;
    return text.length <= MAX_FLOW_LENGTH ? text : undefined;
  }
  for (const _ in value) return undefined;
  return '{}';
}

function writeKey(key: string, indent: string): string {
  const isPlain = /^[A-Za-z_][\w.-]*$/.test(key) && !RESERVED.test(key);
  if (isPlain && key.length <= MAX_KEY_LENGTH) return key;
  const quoted = quoteYaml(key);
  // A longer one has to be announced (YAML 1.2.2, section 8.2.2).
  return quoted.length <= MAX_KEY_LENGTH ? quoted : `? ${quoted}\n${indent}`;
}
