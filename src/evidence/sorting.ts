/** A plain object, sorted by key, so that equal contents are equal texts. */
export function toRecord<From, To>(
  map: ReadonlyMap<string, From>,
  convert: (value: From) => To,
): Record<string, To> {
  const record: Record<string, To> = {};
  for (const key of [...map.keys()].sort()) record[key] = convert(map.get(key) as From);
  return record;
}

/** In the order of their parts, each once. */
export function sortUnique<T>(
  values: readonly T[],
  partsOf: (value: T) => readonly (string | number)[],
): T[] {
  // No part holds a NUL.
  const keyed = new Map(values.map((value) => [partsOf(value).join('\0'), value]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
