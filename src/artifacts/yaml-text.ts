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
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** YAML forbids these, or takes them for a line break. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

export function quoteYaml(text: string): string {
  return JSON.stringify(text).replace(
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
  for (const line of writeLines(value, '')) {
    piece += line;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function* writeLines(value: PlainValue, indent: string): Generator<string> {
  if (isList(value)) {
    for (const item of value) {
      const flow = writeFlow(item);
      if (flow !== undefined) yield `${indent}- ${flow}\n`;
      else {
        // The first line of what is inside stands behind the dash.
        let mark = `${indent}- `;
        for (const line of writeLines(item, `${indent}  `)) {
          yield mark + line.slice(mark.length === 0 ? 0 : indent.length + 2);
          mark = '';
        }
      }
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const member = value[key] as PlainValue;
    const name = indent + writeKey(key, indent);
    const flow = writeFlow(member);
    if (flow !== undefined) yield `${name}: ${flow}\n`;
    else {
      yield `${name}:\n`;
      yield* writeLines(member, `${indent}  `);
    }
  }
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
