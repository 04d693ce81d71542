import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  decodeEntries,
  decodeMessage,
  decodeStat,
} from '../../../src/backends/wasm/decode-message.ts';
import { encodeFrame, FrameReader, PIECE_BYTES } from '../../../src/backends/wasm/frames.ts';

const END = {
  outcome: { kind: 'exited', exitCode: 3 },
  reached: ['diskBytes'],
  truncated: { stdout: 0, stderr: 5 },
  cpuMs: 1.5,
  maxMemoryBytes: 100,
  diskBytes: 7,
  denials: [{ action: 'fs.read', target: '/etc/passwd' }],
};

describe('frames', () => {
  it('come out as they went in, however they are cut', () => {
    const frame = fc.record({
      message: fc.jsonValue(),
      bytes: fc.uint8Array({ maxLength: 3000 }),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 5 }),
        fc.integer({ min: 1, max: 999 }),
        (list, size) => {
          const whole = Buffer.concat(
            list.map(({ message, bytes }) => encodeFrame(message, bytes)),
          );
          const reader = new FrameReader();
          const found = [];
          for (let at = 0; at < whole.length; at += size)
            for (const { message, bytes } of reader.feed(whole.subarray(at, at + size)))
              found.push({ message, bytes: Array.from(bytes) });
          expect(found).toEqual(
            list.map(({ message, bytes }) => ({
              message: JSON.parse(JSON.stringify(message)) as unknown,
              bytes: Array.from(bytes),
            })),
          );
        },
      ),
    );
  });

  it.each([
    ['a message of 4 GB', [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
    ['bytes of 4 GB', [2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]],
    ['a message that is none', [1, 0, 0, 0, 0, 0, 0, 0, 0x7b]],
  ])('are not read on after %s', (_name, bytes) => {
    const reader = new FrameReader();
    expect(() => [...reader.feed(Uint8Array.from(bytes))]).toThrow();
  });

  it('hold at most a piece of bytes', () => {
    const reader = new FrameReader();
    const frame = encodeFrame({}, new Uint8Array(PIECE_BYTES + 1));
    expect(() => [...reader.feed(frame)]).toThrow();
  });
});

describe('decodeMessage()', () => {
  it('takes what a cell says', () => {
    expect(decodeMessage({ type: 'ended', id: 1, end: END })).toMatchObject({
      type: 'ended',
      id: 1,
      end: { ...END, denials: [expect.objectContaining({ action: 'fs.read' })] },
    });
  });

  const wrong: readonly [string, unknown][] = [
    ['nothing', null],
    ['a text', 'ready'],
    ['a list', []],
    ['another kind', { type: 'run', id: 1 }],
    ['no number', { type: 'output', id: '1', stream: 'stdout' }],
    ['another stream', { type: 'output', id: 1, stream: 'stdin' }],
    ['no outcome', { type: 'ended', id: 1, end: { ...END, outcome: undefined } }],
    [
      'a refusal as an outcome',
      { type: 'ended', id: 1, end: { ...END, outcome: { kind: 'refused' } } },
    ],
    [
      'a signal that there is not',
      { type: 'ended', id: 1, end: { ...END, outcome: { kind: 'signaled', signal: '__proto__' } } },
    ],
    [
      'a limit that there is not',
      { type: 'ended', id: 1, end: { ...END, reached: ['constructor'] } },
    ],
    ['a number below zero', { type: 'ended', id: 1, end: { ...END, cpuMs: -1 } }],
    ['no list', { type: 'ended', id: 1, end: { ...END, denials: { length: 1 } } }],
    [
      'a connection refused',
      { type: 'ended', id: 1, end: { ...END, denials: [{ action: 'net.connect', target: 'x' }] } },
    ],
  ];
  it.each(wrong)('refuses %s', (_name, message) => {
    expect(() => decodeMessage(message)).toThrow();
  });

  it('hands on nothing besides, nor a prototype', () => {
    const message: unknown = JSON.parse(
      JSON.stringify({ type: 'ended', id: 1, end: END, more: 1 }).replace(
        '"cpuMs"',
        '"__proto__":{"isOk":true},"cpuMs"',
      ),
    );
    const decoded = decodeMessage(message);
    expect(decoded).not.toHaveProperty('more');
    expect(decoded).not.toHaveProperty('end.isOk');
  });

  it('says no to anything else, and to nothing with another error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const decode of [decodeMessage, decodeStat, decodeEntries])
          try {
            decode(value);
          } catch (error) {
            expect((error as Error).message).toContain('A message from the cell');
          }
      }),
    );
  });
});
