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

function encodeLabel(label: string): string | undefined {
  const own = `xn--${encodePunycode(label)}`;
  try {
    // The URL parser maps first and checks the rules of IDNA; without a mapping both come to the same.
    return new URL(`http://${label}/`).hostname === own ? own : undefined;
  } catch {
    return undefined;
  }
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
