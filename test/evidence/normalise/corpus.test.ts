import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { file, makeRecord, NOON_MS } from '../make-record.ts';
import { makeRandom } from './seeded-random.ts';

const WANTED = 200_000;
const ROOT = join(import.meta.dirname, '../../..');

/** What any machine has; the order is that of the names, so that a machine gives the same every time. */
function* listPaths(directory: string): Iterable<string> {
  let entries;
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return; // not there, or not for us
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    yield join(directory, entry.name);
    if (entry.isDirectory()) yield* listPaths(join(directory, entry.name));
  }
}

/** Where the machine has too few: names as people give them. */
function* makeUpNames(): Iterable<string> {
  const random = makeRandom(1);
  const words =
    'report summary user order invoice chunk vendor main index test spec fixture page image icon model data export ' +
    'backup release v2 draft final old new part section chapter figure table config schema client server worker';
  const list = words.split(' ');
  const endings = ['.txt', '.csv', '.js', '.d.ts', '.py', '.json', '.png', '.so.6', '.tar.gz', ''];
  const pickOne = (values: readonly string[]): string =>
    values[Math.floor(random() * values.length)] ?? '';
  const numbers = [
    () => '',
    () => `-${Math.floor(random() * 1000)}`,
    () => `_${Math.floor(random() * 30)}`,
    () => `-20${10 + Math.floor(random() * 15)}-0${1 + Math.floor(random() * 9)}`,
    () =>
      `.${Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')}`,
    () => `-${Math.floor(random() * 100_000)}`,
  ];
  while (true) {
    const number = numbers[Math.floor(random() * numbers.length)]?.() ?? '';
    yield `${pickOne(list)}-${pickOne(list)}${number}${pickOne(endings)}`;
  }
}

/** Paths with different last names, below a directory where a run may have made them. */
function collectPaths(): readonly string[] {
  const paths = new Map<string, string>();
  const add = (path: string): void => {
    const name = basename(path);
    if (paths.size < WANTED && !paths.has(name)) paths.set(name, `/home/me/project/made${path}`);
  };
  for (const place of ['share', 'lib', 'include', 'local', 'src'])
    for (const path of listPaths(`/usr/${place}`)) add(path);
  for (const place of ['/etc', '/opt', join(ROOT, 'node_modules')])
    for (const path of listPaths(place)) add(path);
  for (const name of makeUpNames()) {
    if (paths.size >= WANTED) break;
    add(`/${name}`);
  }
  return [...paths.values()];
}

describe('ordinary names', () => {
  it(`stay as they are, but for one in ten thousand, when a run makes and keeps ${WANTED} of them`, () => {
    const paths = collectPaths();
    expect(paths.length).toBe(WANTED);
    const record = makeRecord(
      paths.map((path) => file('create', path)),
      // A long run with many processes is the worst case.
      {
        endedMs: NOON_MS + 20 * 60_000,
        pids: [
          { first: 300, last: 8491 },
          { first: 100_000, last: 111_000 },
        ],
      },
    );
    const { pathOf, folded, lines } = normalise(record);
    const wrong = paths.filter((path) => /<\*>|\$\{/.test(basename(pathOf(path))));
    expect(wrong.length, wrong.join(' ')).toBeLessThan(WANTED / 10_000);
    expect(folded.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(wrong.length);
    expect(lines.length).toBeGreaterThan(WANTED * 0.9999);
  }, 120_000);
});
