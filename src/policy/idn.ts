import { quote, type Refusal } from './problems.ts';

/**
 * A name with letters outside ASCII → its A-labels. Only spellings that stand for themselves are taken: what Unicode maps
 * to something else (full-width letters, ligatures, other dots) looks like one host and is another.
 */
export function toAsciiName(text: string): string | Refusal {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(text)) return text;
  const refusal: Refusal = {
    problem: `${quote(text)} is not the name of a host`,
    hint: 'write it in lower case and in normal form, or in ASCII as xn--…',
  };
  if (text.length > 253 || !/^[\p{L}\p{M}\p{N}._\u00b7\u30fb-]+$/u.test(text)) return refusal;
  const labels: string[] = [];
  for (const label of text.split('.')) {
    // oxlint-disable-next-line no-control-regex
    const ascii = /^[\u0000-\u007f]*$/.test(label) ? label : encodeLabel(label);
    if (ascii === undefined) return refusal;
    labels.push(ascii);
  }
  return labels.join('.');
}

/** A letter that has no other form in lower case, although its upper case has: a deviation of UTS 46, or Cherokee. */
const OWN_CASE = /[ß\u0131ς\u13a0-\u13f5]/;
/**
 * What UTS 46 disallows or ignores, of what normalising leaves as it is; Cherokee in lower case is mapped. Letters that
 * are newer than the engine are in no class yet, and refused.
 */
const NOT_IN_NAMES =
  /(?![\u200c\u200d])[\p{DI}\p{C}\p{Z}A-Z\u13f8-\u13fd\uab70-\uabbf\u2ff0-\u2fff\u3002\u31ef\ufffc\ufffd]/u;

function isFolded(char: string): boolean {
  if (OWN_CASE.test(char)) return true;
  const folded = char.toUpperCase().toLowerCase().normalize('NFC');
  return char.toLowerCase() === char && folded === char;
}

/**
 * Whether a label stands for itself: what Unicode maps to something else would be two hosts. By rules of our own, since the
 * URL parsers of different versions of node take different labels. Which letters may stand together (bidi, joiners) is a
 * matter of how a name looks, not of which host it is.
 */
function isInternational(label: string): boolean {
  return (
    /[\u0080-\u{10ffff}]/u.test(label) &&
    !label.startsWith('xn--') &&
    !/^\p{M}/u.test(label) &&
    !NOT_IN_NAMES.test(label) &&
    label.normalize('NFKC') === label &&
    Array.from(label).every(isFolded)
  );
}

function encodeLabel(label: string): string | undefined {
  return isInternational(label) ? `xn--${encodePunycode(label)}` : undefined;
}

/** Whether what follows `xn--` is how an international label is written in ASCII, and the only way to. */
export function isEncodedLabel(code: string): boolean {
  const label = decodePunycode(code);
  return label !== undefined && isInternational(label) && encodePunycode(label) === code;
}

const MAX_CODE = 0x10ffff;

/** RFC 3492, section 6.2. */
function decodePunycode(code: string): string | undefined {
  const delimiter = code.lastIndexOf('-');
  const codes = Array.from(code.slice(0, Math.max(0, delimiter)), (char) => char.charCodeAt(0));
  let next = 128;
  let index = 0;
  let bias = 72;
  for (let at = delimiter + 1; at < code.length;) {
    const before = index;
    let weight = 1;
    for (let base = 36; ; base += 36) {
      const digit = readDigit(code.charCodeAt(at));
      if (digit === undefined || weight > MAX_CODE * 64) return undefined;
      at += 1;
      index += digit * weight;
      const threshold = Math.min(26, Math.max(1, base - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const count = codes.length + 1;
    bias = adaptBias(index - before, count, before === 0);
    next += Math.floor(index / count);
    index %= count;
    if (next > MAX_CODE) return undefined;
    codes.splice(index, 0, next);
    index += 1;
  }
  return String.fromCodePoint(...codes);
}

/** Of a to z, then 0 to 9; undefined for anything else, as behind the end. */
function readDigit(unit: number): number | undefined {
  if (unit >= 97 && unit <= 122) return unit - 97;
  return unit >= 48 && unit <= 57 ? unit - 22 : undefined;
}

/** RFC 3492, section 6.3. */
function encodePunycode(label: string): string {
  const codes = Array.from(label, (char) => char.codePointAt(0) ?? 0);
  const basic = codes.filter((code) => code < 0x80);
  let out = String.fromCodePoint(...basic) + (basic.length > 0 ? '-' : '');
  let next = 128;
  let delta = 0;
  let bias = 72;
  let handled = basic.length;
  while (handled < codes.length) {
    const least = Math.min(...codes.filter((code) => code >= next));
    delta += (least - next) * (handled + 1);
    next = least;
    for (const code of codes) {
      if (code < next) delta++;
      if (code !== next) continue;
      out += encodeDelta(delta, bias);
      bias = adaptBias(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    next++;
  }
  return out;
}

function encodeDelta(delta: number, bias: number): string {
  let out = '';
  let rest = delta;
  for (let base = 36; ; base += 36) {
    const threshold = Math.min(26, Math.max(1, base - bias));
    if (rest < threshold) return out + rest.toString(36).replace(/./, toDigit);
    out += toDigit(String((threshold + ((rest - threshold) % (36 - threshold))).toString(36)));
    rest = Math.floor((rest - threshold) / (36 - threshold));
  }
}

/** Punycode counts a to z, then 0 to 9; toString(36) the other way round. */
function toDigit(digit: string): string {
  const value = Number.parseInt(digit, 36);
  return value < 26 ? String.fromCodePoint(97 + value) : String(value - 26);
}

function adaptBias(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2));
  rest += Math.floor(rest / count);
  let base = 0;
  for (; rest > 455; base += 36) rest = Math.floor(rest / 35);
  return base + Math.floor((36 * rest) / (rest + 38));
}
