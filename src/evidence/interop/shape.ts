import { MalformedDocument } from './judgement.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the members of one object, each with its type; what is wrong is named by its place, such as `landlock.abi`. */
export class Shape {
  readonly #value: JsonObject;
  readonly #at: string;

  constructor(value: unknown, at: string) {
    if (!isObject(value)) throw new MalformedDocument(`${at || 'the document'} is not an object`);
    this.#value = value;
    this.#at = at;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#value, name);
  }

  object(name: string): Shape {
    return new Shape(this.#value[name], this.#place(name));
  }

  text(name: string): string {
    const value = this.#value[name];
    if (typeof value !== 'string') throw this.#refuse(name, 'a text');
    return value;
  }

  flag(name: string): boolean {
    const value = this.#value[name];
    if (typeof value !== 'boolean') throw this.#refuse(name, 'true or false');
    return value;
  }

  integer(name: string, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#value[name];
    if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max)
      throw this.#refuse(name, `a whole number from 0 to ${max}`);
    return value as number;
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.#value[name];
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw this.#refuse(name, choices.join(' or '));
    return found;
  }

  texts(name: string): readonly string[] {
    const value = this.#value[name];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      throw this.#refuse(name, 'a list of texts');
    return value;
  }

  integers(name: string, max: number): readonly number[] {
    const value = this.#value[name];
    const isPort = (item: unknown): boolean =>
      Number.isInteger(item) && (item as number) >= 0 && (item as number) <= max;
    if (!Array.isArray(value) || !value.every(isPort))
      throw this.#refuse(name, `a list of whole numbers up to ${max}`);
    return value as number[];
  }

  /** Refuses members that the format does not have: what is not understood cannot be judged. */
  only(names: readonly string[]): void {
    const odd = Object.keys(this.#value).find((name) => !names.includes(name));
    if (odd !== undefined)
      throw new MalformedDocument(`${this.#place(odd)} is not part of the format`);
  }

  #refuse(name: string, wanted: string): MalformedDocument {
    const what = this.has(name) ? 'is not' : 'is missing; it must be';
    return new MalformedDocument(`${this.#place(name)} ${what} ${wanted}`);
  }

  #place(name: string): string {
    return this.#at === '' ? name : `${this.#at}.${name}`;
  }
}
