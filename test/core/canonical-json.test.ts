import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { canonicalJson } from '../../src/core/canonical-json.ts';
import { sha256Hex, sha256HexOf } from '../../src/core/digest.ts';
import { AssayError } from '../../src/core/errors.ts';

/** Vectors of another implementation, where they lie beside the checkout. */
const VECTORS = join(import.meta.dirname, '../../../shared/interop/canonical/rfc8785.json');

describe('canonicalJson()', () => {
  it.each<[string, unknown, string]>([
    ['literals', [null, true, false], '[null,true,false]'],
    ['empty things', { b: {}, a: [], '': '' }, '{"":"","a":[],"b":{}}'],
    ['nested members in order', { b: [{ d: 1, c: 2 }], a: 0 }, '{"a":0,"b":[{"c":2,"d":1}]}'],
    ['names by UTF-16 code units', { '\ue000': 1, '\u{10000}': 2 }, '{"\u{10000}":2,"\ue000":1}'],
    ['names that look like numbers', { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
    ['no Unicode normalisation', { 'e\u0301': 1, '\u00e9': 2 }, '{"e\u0301":1,"\u00e9":2}'],
    [
      'numbers',
      [1e21, 1e20, 1e-7, 1e-6, -0, 4.5, 1e30],
      '[1e+21,100000000000000000000,1e-7,0.000001,0,4.5,1e+30]',
    ],
    ['escapes', '\u20ac$\u000f\nA\'B"\\\\"/\u007f', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u007f"'],
  ])('writes %s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['undefined', undefined],
    ['an undefined member', { a: undefined }],
    ['a hole', Array.from<number>({ length: 1 })],
    ['a function', { a: () => 1 }],
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['a map', new Map([[1, 2]])],
    ['half of a surrogate pair', 'a\ud800b'],
    ['half of a surrogate pair in a name', { '\udc00': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(AssayError);
  });

  it('refuses a value that contains itself, but not one that is there twice', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(() => canonicalJson(loop)).toThrow(/contains itself/);
    const twice = { a: 1 };
    expect(canonicalJson([twice, twice])).toBe('[{"a":1},{"a":1}]');
  });

  it('gives text that reads back as the same value, and the same text for any order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value);
        // JSON has no negative zero.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reverseMembers(value))).toBe(text);
      }),
    );
  });

  it('agrees with the canonicalize package on any value', () => {
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
    const text = fc.string({ unit: 'binary' });
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, false),
        number,
        text,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(canonicalJson(any)).toBe(canonicalize(any));
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with the vectors of another implementation', (context) => {
    if (!existsSync(VECTORS)) context.skip('not run: the vectors are not here');
    const vectors = JSON.parse(readFileSync(VECTORS, 'utf8')) as Record<
      string,
      { input?: string; expected?: string }
    >;
    const cases = Object.values(vectors).filter(({ input }) => input !== undefined);
    expect(cases.length).toBeGreaterThan(30);
    for (const { input = '', expected } of cases)
      expect(canonicalJson(JSON.parse(input))).toBe(expected);
  });
});

function reverseMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, reverseMembers(member)])
      .reverse(),
  );
}

describe('sha256Hex()', () => {
  it('hashes text as UTF-8', () => {
    expect(sha256Hex('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(sha256Hex('é')).toBe(sha256Hex(new Uint8Array([0xc3, 0xa9])));
  });

  it('hashes parts as the whole', () => {
    expect(sha256HexOf(['a', '', new TextEncoder().encode('bc')])).toBe(sha256Hex('abc'));
  });
});
