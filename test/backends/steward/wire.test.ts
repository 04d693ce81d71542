import { describe, expect, it } from 'vitest';

import { encodeFields, encodeFrame, FrameReader } from '../../../src/backends/steward/wire.ts';

describe('frames of the steward', () => {
  const frames = [
    encodeFrame(2, 7, Buffer.from('hello')),
    encodeFrame(4, 0xffff_ffff, Buffer.alloc(0)),
    encodeFrame(3, 1, Buffer.alloc(70_000, 'x')),
  ];
  const whole = Buffer.concat(frames);

  it.each([1, 2, 8, 9, 10, 13, 4096, whole.length])('come out whole in pieces of %d', (size) => {
    const reader = new FrameReader();
    const seen = [];
    for (let at = 0; at < whole.length; at += size)
      seen.push(...reader.add(whole.subarray(at, at + size)));
    expect(seen.map(({ type, channel, payload }) => [type, channel, payload.length])).toEqual([
      [2, 7, 5],
      [4, 0xffff_ffff, 0],
      [3, 1, 70_000],
    ]);
    expect(seen[0]?.payload.toString()).toBe('hello');
  });

  it('are refused when they say that they are longer than any is', () => {
    const header = Buffer.alloc(9, 0xff);
    expect(() => new FrameReader().add(header)).toThrow('too long');
  });

  it('carry numbers before texts', () => {
    const fields = encodeFields([2 ** 40], [3], ['a', '']);
    expect(fields.readBigUInt64LE(0)).toBe(2n ** 40n);
    expect(fields.readUInt32LE(8)).toBe(3);
    expect(fields.subarray(12).toString()).toBe('a\0\0');
  });
});
