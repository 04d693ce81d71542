import { expect, it } from 'vitest';
import { toPrintable, toPrintableLines } from '../../src/core/printable.ts';

it('toPrintable() escapes exactly the characters that Unicode calls controls, separators and direction marks', () => {
  const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if ((toPrintable(character) !== character) !== unprintable.test(character))
      wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

it('toPrintableLines() leaves line breaks and tabs', () => {
  expect(toPrintableLines('a\n\tb\u001b[2K\u202e')).toBe('a\n\tb\\u001b[2K\\u202e');
});
