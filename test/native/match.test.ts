import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { escapeLiteral, matchPattern } from '../../src/policy/glob.ts';
import { HELPER, ROOT, Workshop } from './compile.ts';

type Pair = readonly [pattern: string, path: string];

// Few characters, so that patterns often match; some of two, three and four bytes, next to each other in a range.
const letter = fc.constantFrom('a', 'b', '.', '-', ']', '!', '^', 'é', 'è', 'λ', '中', '😀', '😁');
const special = fc.constantFrom(
  '*',
  '?',
  '[',
  '[!',
  '[^',
  ']',
  '\\',
  '-',
  '[a-b]',
  '[é-λ]',
  '[!😀]',
);
const name = fc
  .array(fc.oneof(letter, fc.constantFrom('*', '?', '[', '\\')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '.' && text !== '..');
const segment = fc.oneof(
  { arbitrary: fc.constant('**'), weight: 2 },
  {
    arbitrary: fc
      .array(fc.oneof(letter, special), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''))
      .filter((text) => text !== '.' && text !== '..'),
    weight: 5,
  },
);
const path = fc.array(name, { maxLength: 5 }).map((names) => `/${names.join('/')}`);
const pattern = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`);

/** A pattern made from the path itself, so that it nearly or really matches. */
const near = fc
  .array(
    fc.tuple(name, fc.constantFrom('same', 'star', 'globstar', 'question', 'set', 'range', 'head')),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts): Pair => {
    const names = parts.map(([text]) => text);
    return [`/${parts.map(([text, how]) => vary(text, how)).join('/')}`, `/${names.join('/')}`];
  });

function vary(text: string, how: string): string {
  const [first = '', ...rest] = Array.from(text);
  const tail = escapeLiteral(rest.join(''));
  if (how === 'star') return '*';
  if (how === 'globstar') return '**';
  if (how === 'question') return `?${tail}`;
  if (how === 'set') return `[x\\${first}]${tail}`;
  if (how === 'range') return `[!-${first}]${tail}`;
  if (how === 'head') return `${escapeLiteral(first)}*`;
  return escapeLiteral(text);
}

const anyName = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 6 })
  .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..');
const anyPair = fc
  .tuple(fc.array(anyName, { maxLength: 3 }), fc.array(anyName, { maxLength: 3 }))
  .map(([a, b]): Pair => [`/${a.join('/')}`, `/${b.join('/')}`]);
const pair = fc.oneof(
  { arbitrary: fc.tuple(pattern, path), weight: 6 },
  { arbitrary: near, weight: 4 },
  { arbitrary: anyPair, weight: 1 },
);

describe('native/match.c', () => {
  const workshop = new Workshop();
  let driver = '';

  beforeAll(() => {
    const source = join(ROOT, 'test/native/match-driver.c');
    const built = workshop.build('driver', [
      '-std=c11',
      '-Wall',
      '-Wextra',
      '-Werror',
      ...workshop.findSanitizers(),
      source,
    ]);
    if ('problem' in built) throw new Error(built.problem);
    driver = built.program;
  });
  afterAll(() => workshop.close());

  function ask(pairs: readonly Pair[]): boolean[] {
    const { stdout, stderr, status } = spawnSync(driver, [], {
      input: Buffer.from(pairs.map(([wanted, given]) => `${wanted}\0${given}\0`).join('')),
      encoding: 'latin1',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    return Array.from(stdout, (digit) => digit === '1');
  }

  it('decides as src/policy/glob.ts does', () => {
    let matches = 0;
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 200, size: 'max' }), (pairs) => {
        const expected = pairs.map(([wanted, given]) => matchPattern(wanted, given));
        matches += expected.filter(Boolean).length;
        const decided = ask(pairs);
        const wrong = pairs.filter((_, index) => decided[index] !== expected[index]);
        expect(wrong).toEqual([]);
      }),
      { numRuns: 150 },
    );
    // Cases that never match would prove little.
    expect(matches).toBeGreaterThan(500);
  });

  it('takes bytes that are no UTF-8 as one character each', () => {
    const { stdout } = spawnSync(driver, [], {
      input: Buffer.from(
        '/a/?\0/a/\xff\0/a/?\0/a/\xc3\0/a/??\0/a/\xff\xfe\0/a/\xff*\0/a/\xffx\0',
        'latin1',
      ),
      encoding: 'latin1',
    });
    expect(stdout).toBe('1111');
  });

  it('stays fast on patterns made to backtrack', () => {
    const started = performance.now();
    expect(
      ask([
        [`/${'*a'.repeat(200)}*b`, `/${'a'.repeat(2000)}`],
        [`${'/**/a'.repeat(60)}/b`, '/a'.repeat(400)],
      ]),
    ).toEqual([false, false]);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it.each<Pair>([
    ['/**/.env*', '/w/deep/.env.local'],
    ['/**/.env*', '/w/deep/env'],
    ['/a/[é-λ]', '/a/λ'],
    ['/a/?', '/a/😀'],
    ['/', '/anything'],
    // The backslash takes the meaning from the bracket: the set is never closed.
    ['/[^\\]', '/a'],
    ['/[\\]', '/]'],
  ])('is what assay-helper match answers with: %s and %s', (wanted, given) => {
    const { status } = spawnSync(HELPER, ['match', wanted, given]);
    expect(status).toBe(matchPattern(wanted, given) ? 0 : 1);
  });
});
