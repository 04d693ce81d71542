/** In bytes of JSON: four of the longest fit into the line of one event. */
const MAX_BYTES = 200_000;

/** As much of a list as one event has room for. */
export function boundList(texts: readonly string[]): {
  readonly shown: readonly string[];
  readonly more: number;
} {
  let room = MAX_BYTES;
  const end = texts.findIndex((text) => (room -= Buffer.byteLength(JSON.stringify(text)) + 1) < 0);
  if (end < 0) return { shown: texts, more: 0 };
  return { shown: texts.slice(0, end), more: texts.length - end };
}

/** The same, with a last entry that says how many are missing. */
export function boundAndTell(texts: readonly string[]): readonly string[] {
  const { shown, more } = boundList(texts);
  return more === 0 ? shown : [...shown, `[and ${more} more]`];
}
