import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { toPattern } from '../../src/artifacts/name-pattern.ts';
import { decodeName } from '../../src/core/name-bytes.ts';
import { escapeLiteral } from '../../src/evidence/normalise/places.ts';
import { expandEntry } from '../../src/policy/expand.ts';
import { isLiteral } from '../../src/policy/glob.ts';
import { sampleRecord } from '../evidence/sample-record.ts';
import { ROOT, Workshop } from './compile.ts';

const { variables } = sampleRecord();

/** One code unit for each byte, as names arrive. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const ODD = [
  ['*', '**', '?', '-', '--x', '~', '~root', '$', '$HOME', '${CWD}', '${', '{a,b}', '{', '}'],
  ['[', ']', '[x]', '[!x]', '[redacted', '!', '!x', '^', '\\', '\\\\', '\\*', '\\xff', '\\u001b'],
  ['a', 'b', '...', '#c', ' ', 'a ', ' a', 'a\t', 'a\nb', '\n', '"', "'", '<*>', '<\\*>', 'a<*>'],
  ['é', 'e\u0301', '\u2028', '\ufeff', '中', '😀', 'ü', '\u001b[31m', ': y', '- x', ','],
]
  .flat()
  .map(bytesOf);

/** No UTF-8: single bytes, characters that are cut off, halves of pairs, what is too large. */
const BROKEN = [
  ['\xfe', '\xfe\xfd', '\x81', '\xc3', '\xc3x', 'x\xc3', '\xe4\xb8', '\xf0\x9f\x98', 'a\xfeb'],
  ['\xed\xa0\x80', '\xf4\x90\x80\x80\x80', '\\\xfe', '*\xfe', '\xfe '],
].flat();

/** The entry for a name, as the policy of a run grants it and the helper gets it. */
function patternOf(name: string): string {
  const entry = toPattern('${HOME}', escapeLiteral(decodeName(name)));
  expect(entry.trim()).toBe(entry);
  const expansion = expandEntry(entry, { variables, isNameAnywhere: false });
  if ('problem' in expansion) throw new Error(`${entry}: ${expansion.problem}`);
  const [pattern = '', ...more] = expansion.patterns;
  expect(more).toEqual([]);
  expect(isLiteral(pattern)).toBe(false);
  return pattern;
}

describe('toPattern()', () => {
  const workshop = new Workshop();
  let driver = '';

  beforeAll(() => {
    const built = workshop.build('driver', [join(ROOT, 'test/native/match-driver.c')]);
    if ('problem' in built) throw new Error(built.problem);
    driver = built.program;
  });
  afterAll(() => workshop.close());

  /** The names that a pattern covers, by native/match.c. */
  function listCovered(pattern: string, names: readonly string[]): string[] {
    const questions = names.map((name) => `${bytesOf(pattern)}\0${variables.home}/${name}\0`);
    const input = Buffer.from(questions.join(''), 'latin1');
    const { stdout } = spawnSync(driver, [], { input, encoding: 'latin1' });
    return names.filter((_, index) => stdout[index] === '1');
  }

  it.each([...ODD, ...BROKEN])('names %j and no other', (name) => {
    expect(listCovered(patternOf(name), [...ODD, ...BROKEN])).toEqual([name]);
  });

  it('names any text and no other', () => {
    const unit = fc.constantFrom(...'ab*?[]{}\\$~!^-<> \n.xé中'.split(''), '😀');
    const name = fc
      .string({ unit, minLength: 1, maxLength: 5 })
      .filter((text) => text !== '.' && text !== '..')
      .map(bytesOf);
    const some = fc.uniqueArray(name, { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(some, (names) => {
        const [first = ''] = names;
        expect(listCovered(patternOf(first), names)).toEqual([first]);
      }),
      { numRuns: 100 },
    );
  });

  it('names any bytes', () => {
    const byte = fc.integer({ min: 1, max: 255 }).filter((code) => code !== 0x2f);
    const name = fc
      .array(byte, { minLength: 1, maxLength: 6 })
      .map((codes) => String.fromCharCode(...codes))
      .filter((text) => text !== '.' && text !== '..');
    fc.assert(
      fc.property(name, (bytes) => {
        expect(listCovered(patternOf(bytes), [bytes])).toEqual([bytes]);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['what was made up', 'x.<*>', '${HOME}/x.*'],
    ['what stands for a directory', '${HOME-}.<*>', '${HOME}/*.*'],
    ['what is hidden', 'key-[redacted].json', '${HOME}/key-*.json'],
    ['what is hidden and told apart', 'a[redacted:0123456789abcdef]', '${HOME}/a*'],
  ])('leaves %s open', (_, name, pattern) => {
    expect(toPattern('${HOME}', name)).toBe(pattern);
  });
});
