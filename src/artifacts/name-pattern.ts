import { encodeName } from '../core/name-bytes.ts';
import { REDACTED_PART } from '../core/redaction-mark.ts';
import { isSpeakable } from '../evidence/needed-places.ts';
import { escapeLiteral as keepApart } from '../evidence/normalise/places.ts';
import { escapeLiteral } from '../policy/glob.ts';

/** A path as an entry: what stands for a directory stays, all else is literal. */
export function toEntry(path: string): string {
  const [, token = '', rest = ''] = /^(\$\{(?:CWD|HOME)\})?(.*)$/s.exec(path) ?? [];
  return token + escapeLiteral(rest);
}

/** What a pattern can only leave open: what programs made up, what stands for a directory or a number, what is hidden. */
const OPEN = new RegExp(`<\\*>|\\$\\{[A-Z-]+\\}|${REDACTED_PART.source}`);

/** The backslash that keeps a name apart from a form. */
const KEPT_APART = /(?<=[$<])\\(?=\\*(?:\{|\*>))/g;

/**
 * A name that may come and go is granted by a pattern, which the broker keeps to. A set of one character makes a pattern
 * of what would else be a place that has to be there.
 */
export function toPattern(directory: string, name: string): string {
  return `${toEntry(directory)}/${spellName(name)}`;
}

/** The same as {@link toEntry} for a path that may have names in it which no literal can spell. */
export function toSpeltEntry(path: string): string {
  const [start = '', ...names] = path.split('/');
  const spelt = names.map((name) =>
    isSpeakable(name) ? escapeLiteral(name) : spellName(keepApart(name)),
  );
  return [toEntry(start), ...spelt].join('/');
}

function spellName(name: string): string {
  const parts = name
    .split(OPEN)
    .map((part) => readUnits(encodeName(part.replaceAll(KEPT_APART, ''))));
  const spelt = parts.map((units) =>
    units.map((unit, index) => spellUnit(unit, parts.length === 1 && index === 0)).join(''),
  );
  // No entry of a policy may end in white space.
  return spelt.join('*').replace(/\s$/, toSet);
}

/** What patterns take for one character: a character, or bytes that are none and the number they have. */
type Unit = { readonly text: string } | { readonly code: number };

/** As native/match.c reads a name: a byte that begins no character counts by itself. */
function readUnits(bytes: Buffer): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    const rest = [...bytes.subarray(at + 1, at + 1 + more)];
    const isWhole = rest.length === more && rest.every((byte) => (byte & 0xc0) === 0x80);
    const taken = bytes.subarray(at, at + (isWhole ? more + 1 : 1));
    const text = taken.toString();
    if (Buffer.from(text).equals(taken)) units.push({ text });
    else if (!isWhole || more === 0) units.push({ code: first });
    else
      units.push({
        code: rest.reduce((code, byte) => (code << 6) | (byte & 0x3f), first & (0x3f >> more)),
      });
    at += taken.length;
  }
  return units;
}

/** Everything that has a character; what is left is made up of bytes only. */
const NO_CHARACTER = '[!\u0001-\ud7ff\ue000-\u{10ffff}]';

/** No set can hold a slash, but a range can. */
const SLASH = '[.-0]';

/** Bytes that are no text are named by the character of their number, where there is one. */
function spellUnit(unit: Unit, isSet: boolean): string {
  if ('text' in unit) return isSet ? toSet(unit.text) : escapeLiteral(unit.text);
  const { code } = unit;
  if (code === 0x2f) return SLASH;
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? toSet(String.fromCodePoint(code)) : NO_CHARACTER;
}

function toSet(character: string): string {
  return /^\w$/.test(character) ? `[${character}]` : `[\\${character}]`;
}
