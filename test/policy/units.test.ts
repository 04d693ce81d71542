import { describe, expect, it } from 'vitest';
import {
  parseCount,
  parseDuration,
  parseMemory,
  parsePids,
  parseSize,
} from '../../src/policy/units.ts';

describe('parseDuration()', () => {
  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['2d', 172_800_000],
    ['30', 30_000],
    [30, 30_000],
    [0.5, 500],
  ])('reads %j as %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([
    '',
    's',
    '-1s',
    '0',
    '5 minutes',
    '1e3',
    '5M',
    'NaN',
    Number.NaN,
    -1,
    Infinity,
    '9'.repeat(30),
  ])('refuses %j', (text) => expect(parseDuration(text)).toBeUndefined());
});

describe('parseSize()', () => {
  it.each([
    ['512', 512],
    [512, 512],
    ['1k', 1024],
    ['512M', 536_870_912],
    ['2G', 2_147_483_648],
    ['1GiB', 1_073_741_824],
    ['1GB', 1_000_000_000],
    ['1.5T', 1_649_267_441_664],
    ['10 MB', 10_000_000],
    ['7b', 7],
  ])('reads %j as %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', 'M', '-1M', '0', '1X', '1Mi', '1e3', '1,5M'])('refuses %j', (text) =>
    expect(parseSize(text)).toBeUndefined(),
  );
});

describe('parseCount()', () => {
  it('takes whole numbers above zero only', () => {
    expect(parseCount(1024)).toBe(1024);
    expect(parseCount('64')).toBe(64);
    for (const wrong of [0, -1, 1.5, '1k', '', 'many']) expect(parseCount(wrong)).toBeUndefined();
  });
});

it('parseMemory() takes no less than a sandbox needs', () => {
  expect(parseMemory('1M')).toBe(1024 * 1024);
  for (const wrong of [1, '4k', '1023K', '0', 'much']) expect(parseMemory(wrong)).toBeUndefined();
});

it('parsePids() takes no more than a kernel has', () => {
  expect(parsePids('4000000')).toBe(4_000_000);
  for (const wrong of [4_000_001, '100000000', 0, '1k']) expect(parsePids(wrong)).toBeUndefined();
});
