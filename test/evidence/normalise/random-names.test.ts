import { describe, expect, it } from 'vitest';

import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { file, makeRecord } from '../make-record.ts';
import { makeRandom, pick } from './seeded-random.ts';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALPHANUMERIC = LOWER + LOWER.toUpperCase() + DIGITS;
const SAMPLES = 20_000;

/** How programs make up names; the general form of what they make up, and of the directory it lies in. */
const GENERATORS: readonly {
  readonly name: string;
  readonly form: string;
  readonly make: (random: () => number) => string;
}[] = [
  { name: 'mkstemp', form: '<*>', make: (random) => pick(random, ALPHANUMERIC, 6) },
  { name: 'gcc', form: '<*>.s', make: (random) => `cc${pick(random, ALPHANUMERIC, 6)}.s` },
  { name: 'sort', form: '<*>', make: (random) => `sort${pick(random, ALPHANUMERIC, 6)}` },
  { name: 'libuv', form: 'main-<*>', make: (random) => `main-${pick(random, ALPHANUMERIC, 6)}` },
  {
    name: 'git',
    form: 'tmp_obj_<*>',
    make: (random) => `tmp_obj_${pick(random, ALPHANUMERIC, 6)}`,
  },
  { name: 'python', form: '<*>', make: (random) => pick(random, `${LOWER}${DIGITS}_`, 8) },
  {
    name: 'python tmp',
    form: '<*>',
    make: (random) => `tmp${pick(random, `${LOWER}${DIGITS}_`, 8)}`,
  },
  {
    name: 'python prefix',
    form: '<*>.part',
    make: (random) => `j${pick(random, `${LOWER}${DIGITS}_`, 8)}.part`,
  },
  { name: 'mktemp', form: 'tmp.<*>', make: (random) => `tmp.${pick(random, ALPHANUMERIC, 10)}` },
  {
    name: 'base36',
    form: '<*>.output',
    make: (random) => `${pick(random, LOWER + DIGITS, 9)}.output`,
  },
  {
    name: 'ruby',
    form: 'rb<*>',
    make: (random) =>
      `rb20261115-${100_000 + Math.floor(random() * 200)}-${Math.floor(random() * 36 ** 6).toString(36)}`,
  },
  { name: 'uuid', form: 'lock-<*>', make: (random) => `lock-${makeUuid(random)}` },
  { name: 'nanoid', form: '<*>', make: (random) => pick(random, `${ALPHANUMERIC}_-`, 21) },
];

function makeUuid(random: () => number): string {
  const hex = pick(random, '0123456789abcdef', 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Each name in a directory of its own, so that no name helps another. */
function countMisses(names: readonly string[], form: string): string[] {
  const events = names.map((name, index) => file('create', `/tmp/d${index}/${name}`));
  const { pathOf } = normalise(makeRecord(events));
  return names.filter(
    (name, index) => pathOf(`/tmp/d${index}/${name}`) !== `\${TMPDIR}/d${index}/${form}`,
  );
}

describe('names that programs make up', () => {
  it.each(GENERATORS)('of $name get one form, but for one in ten thousand', ({ form, make }) => {
    const random = makeRandom(form.length);
    const names = Array.from({ length: SAMPLES }, () => make(random));
    const misses = countMisses(names, form);
    expect(misses.length, misses.slice(0, 20).join(' ')).toBeLessThanOrEqual(SAMPLES / 10_000);
  });

  it('of one kind get one form even if some of them read as words', () => {
    const random = makeRandom(7);
    const names = Array.from({ length: 200 }, () => `sd${pick(random, ALPHANUMERIC, 6)}`);
    const unlucky = 'sdreader';
    const path = (name: string): string => `/tmp/build/${name}`;
    const { pathOf, folded } = normalise(
      makeRecord([...names, unlucky].map((name) => file('create', path(name)))),
    );
    expect(pathOf(path(unlucky))).toBe('${TMPDIR}/build/<*>');
    expect(folded).toContainEqual(
      expect.objectContaining({ path: '${TMPDIR}/build/<*>', count: 201 }),
    );
  });
});
