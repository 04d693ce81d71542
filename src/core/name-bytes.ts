import { UNPRINTABLE } from './printable.ts';

// Names are bytes. They arrive with one code unit for each byte, and are shown as UTF-8 where they are that. Each name of
// a path stands for itself, so that what lies below a directory starts with the name of the directory.

/** What makes a name look as if it had been escaped, here or when it is made printable. */
const ESCAPE = new RegExp(
  [
    '\\\\(?:\\\\|x[89a-f][0-9a-f]',
    'u(?:00[0189][0-9a-f]|007f|061c|200[ef]|202[89a-e]|206[6-9])',
    `${UNPRINTABLE.source})`,
  ].join('|'),
);

/** A character of UTF-8 (RFC 3629, section 4), a byte that is part of none, or a backslash. */
const UNIT = new RegExp(
  [
    '[\\xc2-\\xdf][\\x80-\\xbf]',
    '\\xe0[\\xa0-\\xbf][\\x80-\\xbf]',
    '[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}',
    '\\xed[\\x80-\\x9f][\\x80-\\xbf]',
    '\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}',
    '[\\xf1-\\xf3][\\x80-\\xbf]{3}',
    '\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}',
    '[\\x80-\\xff\\\\]',
  ].join('|'),
  'g',
);

/**
 * A path or an argument as text. A name that is not UTF-8 keeps its other bytes visible as `\xNN`, and its backslashes
 * doubled; so does a name that could be taken for such a one, or for one with a control character that is spelt out.
 * No two names become the same text, nor do they when they are made printable.
 */
export function decodeName(bytes: string): string {
  if (!/[\x80-\xff\\]/.test(bytes)) return bytes;
  return bytes.split('/').map(decodeSegment).join('/');
}

function decodeSegment(bytes: string): string {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  const isUtf8 = !text.includes('\ufffd') || Buffer.from(text, 'utf8').toString('latin1') === bytes;
  if (isUtf8 && !ESCAPE.test(text)) return text;
  return bytes.replace(UNIT, (unit) => {
    if (unit === '\\') return '\\\\';
    if (unit.length === 1) return `\\x${unit.charCodeAt(0).toString(16)}`;
    return Buffer.from(unit, 'latin1').toString('utf8');
  });
}

/** The same of a name that is text already, where it is shown to somebody. */
export function spellName(text: string): string {
  return text.includes('\\') ? decodeName(Buffer.from(text).toString('latin1')) : text;
}

/** A name that is UTF-8 as what it says, to ask for the file by it; undefined for another. */
export function toText(bytes: string): string | undefined {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return Buffer.from(text, 'utf8').toString('latin1') === bytes ? text : undefined;
}

/** The bytes that a text of {@link decodeName} stands for, to look at the file itself. */
export function encodeName(text: string): Buffer {
  if (!text.includes('\\')) return Buffer.from(text, 'utf8');
  return Buffer.from(text.split('/').map(encodeSegment).join('/'), 'latin1');
}

function encodeSegment(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  if (!ESCAPE.test(text)) return bytes;
  return bytes.replace(/\\(?:\\|x([89a-f][0-9a-f]))/g, (_: string, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
