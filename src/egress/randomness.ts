/** Shorter texts say too little about where they come from. */
const MIN_LABEL = 20;
const MIN_JOINED = 40;
const VOWELS = new Set('aeiouy');

/**
 * Does the name carry data rather than words? Hexadecimal, base32 and base64 do; `my-service-name-in-production` and the
 * short serial numbers of content networks do not. A guess, so nothing rests on it alone.
 */
export function looksRandom(name: string): boolean {
  const labels = name.split('.');
  if (labels.some((label) => label.length >= MIN_LABEL && isRandomText(label))) return true;
  // Data can be cut into short labels as well. The last two are most often somebody's own name.
  const joined = labels.slice(0, -2).join('');
  return joined.length >= MIN_JOINED && isRandomText(joined);
}

function isRandomText(text: string): boolean {
  const plain = text.replaceAll(/[-_]/g, '');
  if (plain.length < MIN_LABEL - 4) return false;
  if (measureEntropy(plain) < 0.62 * Math.log2(Math.min(plain.length, 36))) return false;
  const chars = plain.split('');
  const letters = chars.filter((char) => char >= 'a');
  const vowels = letters.filter((char) => VOWELS.has(char)).length;
  const changes = chars.filter((char, at) => at > 0 && isDigit(char) !== isDigit(plain[at - 1]));
  return changes.length * 6 >= plain.length || vowels * 4 < letters.length;
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9';
}

/** In bits for each character. */
function measureEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
