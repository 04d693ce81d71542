import { AssayError } from './errors.ts';

/**
 * The one JSON text of a value by RFC 8785: no white space, members sorted by UTF-16 code units, numbers and strings
 * as ECMAScript writes them. Throws for whatever JSON cannot say, where `JSON.stringify` would leave it out or put
 * null in its place.
 */
export function canonicalJson(value: unknown): string {
  return write(value, []);
}

/** Many small values are written for one record, so nothing is made on the way that need not be. */
function write(value: unknown, parents: object[]): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return writeString(value);
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value !== 'object') throw refuse(`a ${typeof value}`);
  if (parents.includes(value)) throw refuse('a value that contains itself');
  parents.push(value);
  const text = Array.isArray(value) ? writeArray(value, parents) : writeObject(value, parents);
  parents.pop();
  return text;
}

function writeArray(values: readonly unknown[], parents: object[]): string {
  let text = '[';
  // Holes are visited as well.
  for (const value of values) text += (text === '[' ? '' : ',') + write(value, parents);
  return `${text}]`;
}

function writeObject(value: object, parents: object[]): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw refuse('an object that is not plain');
  const members = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (const name of Object.keys(members).sort())
    text += `${text === '{' ? '' : ','}${writeString(name)}:${write(members[name], parents)}`;
  return `${text}}`;
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw refuse(`the number ${value}`);
  return JSON.stringify(value);
}

function writeString(value: string): string {
  const text = JSON.stringify(value);
  // Section 3.2.2.2: half of a surrogate pair is an error; JSON.stringify escapes it, so only then it is worth a look.
  if (text.includes(String.raw`\ud`) && /\p{Surrogate}/u.test(value))
    throw refuse('a string with half of a surrogate pair');
  return text;
}

function refuse(what: string): AssayError {
  return new AssayError('E_INTERNAL', `Canonical JSON cannot hold ${what}`);
}
