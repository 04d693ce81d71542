// Makes src/evidence/normalise/words.ts: node scripts/make-words.mjs LIST, where LIST has one English word a line,
// such as /usr/share/dict/american-english of Debian's wamerican. Nothing else needs the list.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BITS = 983_040;
const HASHES = 12;
/** Endings that the reader takes off, so that the stem is enough: [ending, what stands in its place]. */
const ENDINGS = [
  ['s', ''],
  ['es', ''],
  ['ed', ''],
  ['ed', 'e'],
  ['ing', ''],
  ['ing', 'e'],
  ['ly', ''],
  ['er', ''],
  ['er', 'e'],
  ['ies', 'y'],
];

const here = dirname(fileURLToPath(import.meta.url));

function readWords(path) {
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .filter((word) => /^[A-Za-z]+$/.test(word))
    .map((word) => word.toLowerCase());
}

function stemsOf(word) {
  return ENDINGS.filter(
    ([ending]) => word.endsWith(ending) && word.length - ending.length >= 4,
  ).map(([ending, instead]) => word.slice(0, -ending.length) + instead);
}

/** The reader in src/evidence/normalise/dictionary.ts does the same. */
function placesOf(word) {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let at = 0; at < word.length; at += 1) {
    first = Math.imul(first ^ word.charCodeAt(at), 0x01000193);
    second = Math.imul(second ^ word.charCodeAt(at), 0x5bd1e995);
    second ^= second >>> 15;
  }
  first ^= first >>> 16;
  return Array.from(
    { length: HASHES },
    (_, round) => ((first + Math.imul(round, second | 1)) >>> 0) % BITS,
  );
}

const [list] = process.argv.slice(2);
if (list === undefined) {
  console.error('usage: node scripts/make-words.mjs LIST');
  process.exit(2);
}
const all = new Set([...readWords(list), ...readWords(join(here, 'programming-words.txt'))]);
const long = [...all].filter((word) => word.length >= 4 && word.length <= 16);
const kept = new Set();
for (const word of long.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)))
  if (!stemsOf(word).some((stem) => kept.has(stem))) kept.add(word);
const bytes = new Uint8Array(BITS / 8);
for (const word of kept) for (const bit of placesOf(word)) bytes[bit >> 3] |= 1 << (bit & 7);
const text = `// Made by scripts/make-words.mjs: a Bloom filter of ${kept.size} stems of words of four letters and more.
export const WORD_FILTER = {
  bits: ${BITS},
  hashes: ${HASHES},
  endings: ${JSON.stringify(ENDINGS)},
  base64:
    '${Buffer.from(bytes).toString('base64')}',
} as const;
`;
writeFileSync(join(here, '../src/evidence/normalise/words.ts'), text);
console.log(`${kept.size} stems of ${long.length} words`);
