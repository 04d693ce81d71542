import { Buffer } from 'node:buffer';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findJsonProblem, type JsonProblemKind } from '../../src/core/strict-json.ts';
import { watchProcessor } from '../processor-time.ts';

const LIMITS = { depth: 64, keys: 10_000, stringLength: 1_048_576 };

describe('findJsonProblem()', () => {
  it.each([
    'null',
    ' [ 1 , -0.5e+3 , "\\u00e9\\ud83d\\ude00" , { } ] \n',
    '{"a":{"a":1},"b":[{"a":2}]}',
    '{"":1,"__proto__":2,"constructor":3}',
    '"\u007f\u2028"',
    '1e308',
    '12345678901234567890',
    '['.repeat(64) + ']'.repeat(64),
  ])('has nothing to say of %s', (text) => {
    expect(findJsonProblem(text, LIMITS)).toBeUndefined();
  });

  it.each<[string, JsonProblemKind, number]>([
    ['', 'syntax', 0],
    ['nul', 'syntax', 0],
    ['1 2', 'syntax', 2],
    ['01', 'syntax', 1],
    ['-', 'syntax', 0],
    ['1.', 'syntax', 1],
    ['+1', 'syntax', 0],
    ['.5', 'syntax', 0],
    ['NaN', 'syntax', 0],
    ['Infinity', 'syntax', 0],
    ['[1,]', 'syntax', 3],
    ['[1 2]', 'syntax', 3],
    ['{"a" 1}', 'syntax', 5],
    ['{a:1}', 'syntax', 1],
    ["{'a':1}", 'syntax', 1],
    ['{"a":1,}', 'syntax', 7],
    ['"a', 'syntax', 2],
    ['"a\nb"', 'syntax', 2],
    [String.raw`"\x41"`, 'syntax', 1],
    [String.raw`"\u12g4"`, 'syntax', 1],
    ['\u00a01', 'syntax', 0],
    ['// a\n1', 'syntax', 0],
    ['{"a":1,"a":1}', 'duplicate-key', 7],
    [String.raw`{"a":1,"\u0061":1}`, 'duplicate-key', 7],
    ['[{"b":{"a":1,"b":2,"a":3}}]', 'duplicate-key', 19],
    [String.raw`"\ud800"`, 'lone-surrogate', 0],
    [String.raw`["\udc00\ud800"]`, 'lone-surrogate', 1],
    [String.raw`{"\ud83d":1}`, 'lone-surrogate', 1],
    ['[1e400]', 'number', 1],
    ['-1e999999999', 'number', 0],
    ['['.repeat(65) + ']'.repeat(65), 'depth', 64],
    ['{"a":'.repeat(65), 'depth', 320],
  ])('says of %j: %s at %i', (text, kind, offset) => {
    expect(findJsonProblem(text, LIMITS)).toMatchObject({ kind, offset });
  });

  it('counts members and characters up to the limit', () => {
    const limits = { depth: 1, keys: 2, stringLength: 3 };
    expect(findJsonProblem('{"a":"\\u00e9bc","b":2}', limits)).toBeUndefined();
    expect(findJsonProblem('{"a":1,"b":2,"c":3}', limits)?.kind).toBe('keys');
    expect(findJsonProblem('"abcd"', limits)?.kind).toBe('string-length');
  });

  it.each([
    ['9007199254740992', false],
    ['9007199254740993', true],
    ['-9007199254740993', true],
    ['100000000000000000000', false],
    ['100000000000000000001', true],
    ['1'.repeat(400), true],
    ['9007199254740993.5', false],
  ])('knows whether a double holds %s', (text, isProblem) => {
    expect(findJsonProblem(text, LIMITS)?.kind === 'number').toBe(text.length > 310);
    expect(findJsonProblem(text, { ...LIMITS, isExact: true })?.kind === 'number').toBe(isProblem);
  });

  it('takes exactly the texts that JSON.parse() takes, but for what it looks for', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-',
      '0',
      '.5',
      'e1',
      'true',
      'null',
      ' ',
      '\\',
      '"',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json({ noUnicodeString: false }),
          fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
        ),
        (text) => {
          const kind = findJsonProblem(text, LIMITS)?.kind;
          if (kind === 'syntax') expect(canParse(text)).toBe(false);
          if (kind === undefined) expect(canParse(text)).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('finds every repeated name, wherever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (names) => {
        const text = `[{"x":{${names.map((name) => `${JSON.stringify(name)}:1`).join(',')}}}]`;
        const isRepeated = new Set(names).size < names.length;
        expect(findJsonProblem(text, LIMITS)?.kind).toBe(isRepeated ? 'duplicate-key' : undefined);
      }),
    );
  });

  it('takes time in proportion to the text', () => {
    for (const text of [
      '"'.padEnd(1 << 20, 'a'),
      '['.repeat(1 << 20),
      ' '.repeat(1 << 20),
      '1'.repeat(1 << 20),
      `"${'\\n'.repeat(1 << 19)}"`,
    ]) {
      const spentMs = watchProcessor();
      findJsonProblem(text, { ...LIMITS, isExact: true });
      expect(spentMs(), Buffer.from(text.slice(0, 3)).toString()).toBeLessThan(2000);
    }
  });
});

function canParse(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
