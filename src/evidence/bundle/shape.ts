/** What a value must be, member by member. */
export type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

/** The first member that is not as it must be, in words. With `isExact` no others may be there. */
export function findShapeProblem(
  value: unknown,
  shape: Shape,
  { isExact = false }: { readonly isExact?: boolean } = {},
): string | undefined {
  if (!isRecord(value)) return 'it is not an object';
  for (const name in shape) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (shape[name]?.(member) !== true)
      return member === undefined ? `"${name}" is missing` : `"${name}" is of the wrong type`;
  }
  if (isExact)
    for (const name of Object.keys(value))
      if (!Object.hasOwn(shape, name)) return `"${name}" is not known`;
  return undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isHash(value: unknown): value is string {
  return isString(value) && /^sha256:[0-9a-f]{64}$/.test(value);
}

export function isArrayOf(isItem: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.every(isItem);
}

export function optional(isMember: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || isMember(value);
}

/** The older format also says null for what is not there. */
export function optionalOrNull(isMember: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || value === null || isMember(value);
}
