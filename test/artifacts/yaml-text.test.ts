import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeJson } from '../../src/artifacts/json-text.ts';
import { readPlainYaml } from '../../src/artifacts/yaml-reader.ts';
import { type PlainValue, writeYaml } from '../../src/artifacts/yaml-text.ts';

function toYaml(value: PlainValue): string {
  return [...writeYaml(value)].join('');
}

const HOSTILE = [
  '',
  ' ',
  '- ',
  ': ',
  'a: b',
  '# no comment',
  '<*>',
  '<<',
  '*alias',
  '&anchor',
  '!tag',
  '%TAG',
  '---',
  '...',
  '? ',
  '"',
  "'",
  '\\',
  '\\xff',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\u0007',
  '\u001b[31m',
  '\u007f',
  '\u0085',
  '\u202egnp.exe',
  '\u061c\u200e\u200f\u2066\u2069',
  '\u2028',
  '\ufeff',
  '\ufffe',
  '🦊',
  'é',
  'null',
  'no',
  'Yes',
  '1',
  '1.0',
  '0x1f',
  '1e3',
  '.inf',
  '2026-11-15',
  '12:30:45',
  '=',
  '~',
  '[',
  '{}',
  '${CWD}/a b',
  'trailing ',
  ' leading',
  'x'.repeat(5000),
];

describe('writeYaml()', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text).slice(0, 30), text]))(
    'keeps %s as a value, as a key and in lists',
    (_, text) => {
      const value = {
        [text]: text,
        list: [text, { [text]: [text] }],
        deep: { [text]: { [text]: [[text]] } },
      };
      expect(parse(toYaml(value))).toEqual(value);
      expect(readPlainYaml(toYaml(value))).toEqual(value);
      expect(parse(toYaml(value), { version: '1.1' })).toEqual(value);
    },
  );

  it('gives back any JSON value', () => {
    // -0 is no number of ours, and `__proto__` no name.
    const isPlain = (value: unknown): boolean => !/-0\b|__proto__/.test(JSON.stringify(value));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(isPlain(value) && !Object.is(value, -0));
        const plain = JSON.parse(JSON.stringify(value)) as PlainValue;
        expect(parse(toYaml(plain))).toEqual(plain);
        expect(readPlainYaml(toYaml(plain))).toEqual(plain);
      }),
      { numRuns: 1000 },
    );
  });

  it('gives back names of any characters', () => {
    const name = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(fc.dictionary(name, fc.array(name)), (value) => {
        fc.pre(!Object.hasOwn(value, '__proto__'));
        const plain = { ...value };
        expect(parse(toYaml(plain))).toEqual(plain);
        expect(readPlainYaml(toYaml(plain))).toEqual(plain);
      }),
      { numRuns: 1000 },
    );
  });

  it('reads well', () => {
    const value = {
      version: '1.0',
      run_ids: ['sandbox_1'],
      files: { '${CWD}/a': { write: { ok: ['/usr/bin/dash'] } } },
      refusals: [{ op: 'read', rule: null }],
      none: [],
      nothing: {},
    };
    expect(toYaml(value)).toMatchInlineSnapshot(`
      "version: "1.0"
      run_ids: ["sandbox_1"]
      files:
        "\${CWD}/a":
          write:
            ok: ["/usr/bin/dash"]
      refusals:
        - op: "read"
          rule: null
      none: []
      nothing: {}
      "
    `);
  });

  it('writes 200,000 entries in pieces', { timeout: 60_000 }, () => {
    const files: Record<string, PlainValue> = {};
    for (let index = 0; index < 200_000; index++)
      files[`\${CWD}/d${index % 100}/f${index}`] = { write: { ok: ['/usr/bin/dash'] } };
    let size = 0;
    let longest = 0;
    for (const piece of writeYaml({ files })) {
      size += piece.length;
      longest = Math.max(longest, piece.length);
    }
    expect(size).toBeGreaterThan(10_000_000);
    expect(longest).toBeLessThan(100_000);
  });
});

describe('readPlainYaml()', () => {
  it.each([
    '',
    'a: b',
    'a: "x" # comment',
    'a: 1\na: 2',
    '__proto__: 1',
    'a:\n  b: 1\n   c: 2',
    'a:\nb: 1',
    '- 1\n b: 2',
    "a: 'x'",
    'a: [x]',
    'a: &x 1\nb: *x',
    '"a',
    '{"a": 1} x',
    '? a\n: 1',
    'a: |\n  x',
  ])('leaves %j to others', (text) => {
    expect(readPlainYaml(text)).toBeUndefined();
  });

  it('reads nothing else than a reader of YAML does', () => {
    const piece = fc.constantFrom(
      'a: ',
      '"k": ',
      '- ',
      '\n',
      '  ',
      ' ',
      '1',
      '"x"',
      '[]',
      '{}',
      '? ',
      ': ',
      'null',
      ':',
      '[1, 2]',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('');
        const value = readPlainYaml(text);
        if (value !== undefined) expect(value).toEqual(parse(text));
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('writeJson()', () => {
  it('writes what JSON.stringify() writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as PlainValue;
        expect([...writeJson(plain)].join('')).toBe(`${JSON.stringify(plain, null, 2)}\n`);
      }),
    );
  });
});
