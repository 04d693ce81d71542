/** The same numbers every time: mulberry32. */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick(random: () => number, alphabet: string, length: number): string {
  let text = '';
  for (let at = 0; at < length; at += 1)
    text += alphabet[Math.floor(random() * alphabet.length)] ?? '';
  return text;
}

export function shuffle<T>(random: () => number, values: readonly T[]): T[] {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other] as T, result[at] as T];
  }
  return result;
}
