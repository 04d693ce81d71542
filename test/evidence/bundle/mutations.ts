import { gunzipSync } from 'node:zlib';

import { canonicalJson } from '../../../src/core/canonical-json.ts';
import * as forge from './forge.ts';
import type { Json } from './forge.ts';

/** Numbers that are the same for the same seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0, less than `count`. */
  roll(count: number): number {
    // Mulberry32.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) % Math.max(1, count);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.roll(items.length)] as T;
  }
}

export interface Mutant {
  readonly bytes: Buffer;
  /** Whether every hash was made again afterwards: then only what the run digest covers is known to be caught. */
  readonly isResealed: boolean;
}

/** One or several changes of a good bundle. */
export function mutate(good: Buffer, other: Buffer, dice: Dice): Mutant {
  const kind = dice.roll(5);
  if (kind === 0) return { bytes: mutateBytes(good, other, dice), isResealed: false };
  if (kind === 1)
    return {
      bytes: forge.gzip(mutateTar(gunzipSync(good), dice), { level: 1 }),
      isResealed: false,
    };
  if (kind === 2) return { bytes: mutateTexts(good, dice), isResealed: false };
  if (kind === 3) return { bytes: mutateResealedText(good, dice), isResealed: true };
  return { bytes: mutateValues(good, dice), isResealed: true };
}

function mutateBytes(bytes: Buffer, other: Buffer, dice: Dice): Buffer {
  let result = Buffer.from(bytes);
  for (let times = 1 + dice.roll(3); times > 0; times -= 1) {
    const at = dice.roll(result.length);
    const length = 1 + dice.roll(dice.pick([1, 8, 100, 1000]));
    const from = dice.roll(other.length);
    const before = result.subarray(0, at);
    const piece = result.subarray(at, at + length);
    const after = result.subarray(at + length);
    const changes: readonly (() => Buffer)[] = [
      () =>
        Buffer.concat([
          before,
          Buffer.of((piece[0] ?? 0) ^ (1 << dice.roll(8))),
          result.subarray(at + 1),
        ]),
      () => before,
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, piece, piece, after]),
      () => Buffer.concat([before, other.subarray(from, from + length), after]),
      () => Buffer.concat([before, Buffer.alloc(length, dice.pick([0, 0xff, 0x1f])), after]),
      () => Buffer.concat([result, other.subarray(0, length)]),
      () => Buffer.concat([before, other.subarray(from)]),
    ];
    result = Buffer.from(dice.pick(changes)());
  }
  return result;
}

/** Bytes of the archive; often of a header, whose checksum is then made to fit. */
function mutateTar(tar: Buffer, dice: Dice): Buffer {
  if (dice.roll(3) === 0) return mutateBytes(tar, tar, dice);
  const result = Buffer.from(tar);
  const size = Number.parseInt(tar.toString('latin1', 124, 135), 8);
  const start = dice.pick([0, 512 + Math.ceil(size / 512) * 512]);
  const header = result.subarray(start, start + 512);
  const fields = [0, 100, 108, 116, 124, 136, 156, 157, 257, 265, 297, 345];
  for (let times = 1 + dice.roll(2); times > 0; times -= 1)
    header[dice.pick(fields) + dice.roll(12)] = dice.pick([
      0,
      32,
      46,
      47,
      48,
      49,
      50,
      55,
      53,
      57,
      76,
      83,
      103,
      120,
      128,
      255,
      dice.roll(256),
    ]);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(7, '0')}\0`, 148, 'latin1');
  return result;
}

const TOKENS = [
  '1e999',
  '-0',
  '1.0',
  '9007199254740993',
  String.raw`"\ud800"`,
  String.raw`"\u0000"`,
  '"\u2028"',
  '{}',
  '[]',
  'null',
  'true',
  '""',
  '"a":1,',
  ',',
  '{',
  '}',
  '\n',
  ' ',
  '\r\n',
  '"__proto__":{},',
  '[['.repeat(40),
  '{"a":'.repeat(70),
];

function mutateText(text: string, dice: Dice): string {
  const marks = Array.from(
    text.matchAll(/[{}[\],:"\n]|\d+|true|false|null/g),
    ({ index }) => index,
  );
  let result = text;
  for (let times = 1 + dice.roll(3); times > 0; times -= 1) {
    const at = dice.pick(marks);
    const end = dice.roll(2) === 0 ? at : at + 1 + dice.roll(20);
    result = result.slice(0, at) + dice.pick(TOKENS) + result.slice(end);
  }
  return result;
}

function mutateTexts(good: Buffer, dice: Dice): Buffer {
  const { manifest, events } = forge.unpack(good);
  return dice.roll(2) === 0
    ? forge.packTexts(mutateText(manifest, dice), events)
    : forge.packTexts(manifest, mutateText(events, dice));
}

/** The text of the events, with a manifest that fits the file. */
function mutateResealedText(good: Buffer, dice: Dice): Buffer {
  const contents = forge.parse(good);
  const lines = forge.unpack(good).events.trimEnd().split('\n');
  const at = dice.roll(lines.length);
  lines[at] = mutateText(lines[at] ?? '', dice);
  const text = `${lines.join('\n')}\n`;
  forge.sealManifest(contents, text);
  return forge.packTexts(canonicalJson(contents.manifest), text);
}

const VALUES: readonly Json[] = [
  null,
  0,
  1,
  -1,
  1.5,
  1e21,
  '',
  'x',
  'ok',
  [],
  {},
  [[]],
  true,
  false,
  'a\u0000b',
];

/** Values anywhere, with every hash made again. */
function mutateValues(good: Buffer, dice: Dice): Buffer {
  const contents = forge.parse(good);
  for (let times = 1 + dice.roll(3); times > 0; times -= 1) {
    const { events } = contents;
    const at = dice.roll(events.length);
    const changes: readonly (() => void)[] = [
      () => mutateValue(events[at], dice),
      () => mutateValue(events[at], dice),
      () => mutateValue(contents.manifest, dice),
      () => void events.splice(at, 1),
      () => void events.splice(at, 0, structuredClone(dice.pick(events) ?? {})),
      () => void events.splice(dice.roll(events.length), 0, ...events.splice(at, 1)),
    ];
    dice.pick(changes)();
  }
  if (dice.roll(2) === 0) forge.renumber(contents);
  try {
    return forge.pack(forge.reseal(contents, { isIdentityKept: dice.roll(4) === 0 }));
  } catch {
    // It has become something that cannot be sealed.
    return forge.packTexts(JSON.stringify(contents.manifest), JSON.stringify(contents.events));
  }
}

function mutateValue(value: Json, dice: Dice): void {
  // All events may be gone by now.
  const name = dice.pick(Object.keys(value ?? {}));
  if (name === undefined) return;
  const member: Json = value[name];
  if (typeof member === 'object' && member !== null && dice.roll(4) > 0) mutateValue(member, dice);
  else if (dice.roll(4) === 0 && !Array.isArray(value)) delete value[name];
  else if (dice.roll(6) === 0 && !Array.isArray(value))
    value[dice.pick(['identity', 'x', '__x'])] = 1;
  else value[name] = dice.pick(VALUES);
}
