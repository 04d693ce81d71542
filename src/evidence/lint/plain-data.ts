/** What is in `data` was written by whoever wrote the bundle: nothing about its shape can be relied on. */

export type PlainRecord = Readonly<Record<string, unknown>>;

export function toRecord(value: unknown): PlainRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as PlainRecord)
    : {};
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toTexts(value: unknown): string[] {
  return toList(value).filter((item) => typeof item === 'string');
}

/** RFC 6901. A pointer without its first slash is taken as if it had one; an empty one is the whole value. */
export function readPointer(
  value: unknown,
  pointer: string,
): { readonly value: unknown } | undefined {
  if (pointer === '' || pointer === '/') return { value };
  let at = value;
  for (const part of pointer.replace(/^\//, '').split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) {
      if (!/^(?:0|[1-9]\d{0,9})$/.test(name) || Number(name) >= at.length) return undefined;
      at = at[Number(name)] as unknown;
    } else if (typeof at === 'object' && at !== null && Object.hasOwn(at, name)) {
      at = (at as PlainRecord)[name];
    } else {
      return undefined;
    }
  }
  return at === undefined ? undefined : { value: at };
}
