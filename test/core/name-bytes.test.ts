import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPrintable } from '../../src/core/printable.ts';
import { decodeName, encodeName } from '../../src/core/name-bytes.ts';

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const fromUtf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** Bytes that make trouble are likely: parts of characters, backslashes, and what looks like an escape. */
const hostileName = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.string({ unit: 'grapheme', maxLength: 4 }).map(fromUtf8),
      fc.constantFrom('\\', '\\\\', '\\xff', '\\\\xff', '\\x2d', '\n', '\x1b[2J', '/', '\xff'),
      fc.constantFrom('\\u000a', 'u000a', '\\\n', '\\u202e', fromUtf8('\u202e')),
      fc.constantFrom(
        '\xc3',
        '\xa9',
        '\xed\xa0\x80',
        '\xf4\x90\x80\x80',
        '\xc0\xaf',
        '\xef\xbf\xbd',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('decodeName()', () => {
  it.each([
    ['/w/plain', '/w/plain'],
    [fromUtf8('/w/grüße-日本-🎉'), '/w/grüße-日本-🎉'],
    ['/w/new\nline\x1b[2J', '/w/new\nline\x1b[2J'],
    ['/w/a\\b', '/w/a\\b'],
    ['/w/dev\\x2ddisk', '/w/dev\\x2ddisk'],
    ['/w/\xff', '/w/\\xff'],
    ['/w/\xffa\\b', '/w/\\xffa\\\\b'],
    ['/w/a\\\\b', '/w/a\\\\\\\\b'],
    ['/w/a\\xffb', '/w/a\\\\xffb'],
    ['/w/a\\u000ab', '/w/a\\\\u000ab'],
    ['/w/a\\u00e9b', '/w/a\\u00e9b'],
    ['/w/a\\\nb', '/w/a\\\\\nb'],
    [`/w/${fromUtf8('é')}\xe9`, '/w/é\\xe9'],
    ['/w/\xed\xa0\x80', '/w/\\xed\\xa0\\x80'],
    [fromUtf8('/w/\ufffd'), '/w/\ufffd'],
  ])('%j → %j', (bytes, text) => {
    expect(decodeName(bytes)).toBe(text);
  });

  it('doubles the backslash before exactly what toPrintable() spells out, or as it does', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0xffff; code++) {
      if (code === 0x2f || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) continue;
      const character = String.fromCharCode(code);
      const spelt = `u${code.toString(16).padStart(4, '0')}`;
      const isSpelt = toPrintable(character) === `\\${spelt}`;
      for (const text of [spelt, character])
        if (decodeName(fromUtf8(`\\${text}`)) !== (isSpelt ? `\\\\${text}` : `\\${text}`))
          wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('never makes one name of two, and gives the bytes back', () => {
    fc.assert(
      fc.property(hostileName, hostileName, (a, b) => {
        expect(encodeName(decodeName(a)).toString('latin1')).toBe(a);
        expect(decodeName(a) === decodeName(b)).toBe(a === b);
        expect(toPrintable(decodeName(a)) === toPrintable(decodeName(b))).toBe(a === b);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back any bytes at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => {
        expect(encodeName(decodeName(latin1(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('makes text that survives being written as UTF-8', () => {
    fc.assert(
      fc.property(hostileName, (name) => {
        const text = decodeName(name);
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
  });

  it('lets what lies below a directory start with its name', () => {
    fc.assert(
      fc.property(hostileName, hostileName, (directory, name) => {
        expect(decodeName(`${directory}/${name}`)).toBe(
          `${decodeName(directory)}/${decodeName(name)}`,
        );
      }),
    );
  });
});
