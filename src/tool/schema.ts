/** The part of JSON Schema that tools describe their input and output with, and that `findInputProblem` checks. */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

export interface ObjectSchema extends Schema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
}

export type ValuePath = readonly (string | number)[];

export interface InputProblem {
  /** Of the value that is wrong; of the object, where something is missing or too much. */
  readonly path: ValuePath;
  readonly message: string;
}

/** The first thing about `value` that the schema does not allow. */
export function findInputProblem(
  value: unknown,
  schema: Schema,
  path: ValuePath = [],
): InputProblem | undefined {
  const name = describePath(path);
  const fail = (message: string): InputProblem => ({ path, message: `${name} ${message}` });
  const type = typeOf(value);
  if (type !== schema.type && !(type === 'integer' && schema.type === 'number'))
    return fail(`is ${withArticle(type)}, and must be ${withArticle(schema.type)}`);
  if (typeof value === 'string') return findTextProblem(value, schema, fail);
  if (typeof value === 'number') return findNumberProblem(value, schema, fail);
  if (Array.isArray(value)) {
    if (schema.maxItems !== undefined && value.length > schema.maxItems)
      return fail(`has ${value.length} entries, and may have ${schema.maxItems}`);
    return firstOf(value.entries(), ([index, item]) =>
      schema.items ? findInputProblem(item, schema.items, [...path, index]) : undefined,
    );
  }
  if (type === 'object') return findMemberProblem(value as object, schema, path);
  return undefined;
}

/** `files[0].path`, or `the input` for all of it. */
export function describePath(path: ValuePath): string {
  if (path.length === 0) return 'the input';
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

function findMemberProblem(
  value: object,
  schema: Schema,
  path: ValuePath,
): InputProblem | undefined {
  const { properties = {}, required = [], additionalProperties } = schema;
  const name = describePath(path);
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return { path, message: `${name} lacks "${missing}"` };
  return firstOf(Object.entries(value), ([key, member]) => {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (own) return findInputProblem(member, own, [...path, key]);
    if (additionalProperties !== false) return undefined;
    const known = Object.keys(properties).join(', ');
    return { path: [...path, key], message: `${name} has no "${key}"; there is: ${known}` };
  });
}

type Fail = (message: string) => InputProblem;

function findTextProblem(value: string, schema: Schema, fail: Fail): InputProblem | undefined {
  const { enum: choices, minLength = 0, maxLength = Infinity, pattern } = schema;
  if (choices && !choices.includes(value))
    return fail(`is one of ${choices.join(', ')}, not ${JSON.stringify(clip(value))}`);
  if (value.length < minLength) return fail('is empty');
  if (value.length > maxLength)
    return fail(`has ${value.length} characters, and may have ${maxLength}`);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return fail(`is not as it should be: ${JSON.stringify(clip(value))}`);
  return undefined;
}

function findNumberProblem(value: number, schema: Schema, fail: Fail): InputProblem | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum || value > maximum)
    return fail(`is ${value}, and must be from ${minimum} to ${maximum}`);
  return undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function withArticle(type: string): string {
  if (type === 'null' || type === 'undefined') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function firstOf<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
