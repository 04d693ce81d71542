import { PassThrough } from 'node:stream';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { encodeFrame, type Frame, FrameReader } from '../../../src/backends/microvm/frames.ts';
import { GuestLink, GuestRefusal } from '../../../src/backends/microvm/guest-link.ts';
import { decodeEntries, decodeExit, decodeHello } from '../../../src/backends/microvm/messages.ts';
import { SandboxError } from '../../../src/backends/sandbox-error.ts';

/** What an agent would send. */
function answer(type: number, id: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt32LE(type, 0);
  header.writeUInt32LE(id, 4);
  header.writeUInt32LE(payload.length, 8);
  return Buffer.concat([header, payload]);
}

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** Frames that the protocol allows, with what they are called. */
const goodFrame = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(130, 131, 135),
      fc.nat(),
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
    )
    .map(([type, id, payload]) => ({ type, id, payload: Buffer.from(payload) })),
  fc
    .tuple(fc.constantFrom(134, 136, 137), fc.nat())
    .map(([type, id]) => ({ type, id, payload: Buffer.alloc(0) })),
  fc
    .tuple(fc.nat(), fc.uint8Array({ minLength: 4, maxLength: 500 }))
    .map(([id, payload]) => ({ type: 129, id, payload: Buffer.from(payload) })),
);

/** Cuts bytes at these places. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces = [];
  let rest = bytes;
  for (const size of sizes) {
    pieces.push(rest.subarray(0, size));
    rest = rest.subarray(size);
  }
  return [...pieces, rest];
}

describe('FrameReader', () => {
  it('finds the same frames wherever the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(goodFrame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }),
        (frames, sizes) => {
          const found: Frame[] = [];
          const reader = new FrameReader((frame) => void found.push(frame));
          const stream = Buffer.concat(
            frames.map(({ type, id, payload }) => answer(type, id, payload)),
          );
          for (const piece of cut(stream, sizes)) reader.feed(piece);
          expect(found.map(({ id, payload }) => ({ id, payload }))).toEqual(
            frames.map(({ id, payload }) => ({ id, payload })),
          );
        },
      ),
    );
  });

  it('takes any bytes, and refuses them only as a breach of the protocol', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 8 }), (pieces) => {
        const reader = new FrameReader(() => undefined);
        try {
          for (const piece of pieces) reader.feed(Buffer.from(piece));
        } catch (error) {
          expect(SandboxError.is(error) && error.code).toBe('engine_failed');
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a type that there is not', answer(1, 0, Buffer.alloc(0))],
    ['a type that is a name of every object', answer(0, 0, Buffer.alloc(0))],
    ['more output than fits into a frame', answer(130, 1, Buffer.alloc(65_537))],
    ['no output at all', answer(130, 1, Buffer.alloc(0))],
    ['an end that is too short', answer(132, 1, Buffer.alloc(63))],
    ['an end that is too long', answer(132, 1, Buffer.alloc(65))],
    ['an answer without a status', answer(129, 1, Buffer.alloc(3))],
    ['something with a connection', answer(134, 1, Buffer.alloc(1))],
  ])('refuses %s', (_, bytes) => {
    const reader = new FrameReader(() => expect.unreachable());
    expect(() => reader.feed(bytes)).toThrow('broke the protocol');
  });

  it('refuses a length before there is anything of it', () => {
    const header = answer(129, 1, Buffer.alloc(4)).subarray(0, 12);
    header.writeUInt32LE(0xffff_ffff, 8);
    const reader = new FrameReader(() => expect.unreachable());
    expect(() => reader.feed(header)).toThrow('4294967295 bytes');
  });

  it('sends nothing that does not fit into a frame', () => {
    expect(() => encodeFrame('stdin', 1, Buffer.alloc(256 * 1024 + 1))).toThrow('do not fit');
  });
});

describe('what the guest says', () => {
  it('is decoded or refused, whatever the bytes are', () => {
    const exit = fc.uint8Array({ minLength: 64, maxLength: 64 });
    const isRefused = (decode: () => unknown): void => {
      try {
        decode();
      } catch (error) {
        expect(SandboxError.is(error), String(error)).toBe(true);
      }
    };
    fc.assert(
      fc.property(exit, fc.uint8Array({ maxLength: 300 }), (end, bytes) => {
        isRefused(() => decodeExit(Buffer.from(end)));
        isRefused(() => decodeEntries(Buffer.from(bytes)));
        isRefused(() => decodeHello(Buffer.concat([number32(1), Buffer.from(bytes)])));
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['../x', 'a/b', '..', '.', 'a\0b'])('is no name that leads elsewhere: %j', (name) => {
    const entry = Buffer.alloc(32);
    entry.writeUInt32LE(1, 0);
    entry.writeUInt32LE(Buffer.byteLength(name), 4);
    expect(() => decodeEntries(Buffer.concat([entry, Buffer.from(name)]))).toThrow(
      'leads elsewhere',
    );
  });

  it('is a version of the protocol that is spoken here', () => {
    expect(() => decodeHello(number32(2))).toThrow('speaks version 2');
    expect(
      decodeHello(Buffer.concat([number32(1), Buffer.from('bash 5.2.15(1)-release\n')])),
    ).toEqual({
      versions: { bash: '5.2.15(1)-release' },
    });
  });
});

function connect(): { link: GuestLink; guest: PassThrough; sent: PassThrough } {
  const guest = new PassThrough();
  const sent = new PassThrough();
  // A port whose two directions can be seen apart.
  const port = Object.assign(guest, {
    write: (bytes: Buffer) => sent.write(bytes),
  });
  const link = new GuestLink(port);
  return { link, guest, sent };
}

const say = (guest: PassThrough, bytes: Buffer): void => void guest.push(bytes);

describe('GuestLink', () => {
  it('hands an answer to whoever has asked', async () => {
    const { link, guest } = connect();
    const [one, two] = [
      link.request('files', Buffer.from('one')),
      link.request('files', Buffer.from('two')),
    ];
    say(guest, answer(129, 2, Buffer.concat([number32(0), Buffer.from('second')])));
    say(guest, answer(129, 1, number32(2)));
    expect((await two).toString()).toBe('second');
    await expect(one).rejects.toEqual(new GuestRefusal(2));
  });

  it.each([
    ['an answer that nobody has asked for', answer(129, 7, number32(0))],
    ['output of a call that there is not', answer(130, 7, Buffer.from('x'))],
    ['a connection where there is no door', answer(134, 0x8000_0001, Buffer.alloc(0))],
    ['a connection with the number of a call', answer(134, 1, Buffer.alloc(0))],
  ])('ends with %s, and tells everybody who waits', async (_, bytes) => {
    const { link, guest } = connect();
    const waiting = link.request('files', Buffer.alloc(0));
    say(guest, bytes);
    await expect(waiting).rejects.toThrow('broke the protocol');
    await expect(link.hello).rejects.toThrow('broke the protocol');
    expect((await link.lost).code).toBe('engine_failed');
    await expect(link.request('files', Buffer.alloc(0))).rejects.toThrow('broke the protocol');
  });

  it('survives any stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.uint8Array({ maxLength: 60 }), goodFrame), { maxLength: 20 }),
        async (parts) => {
          const { link, guest } = connect();
          const waiting = link.request('files', Buffer.alloc(0)).catch(() => undefined);
          for (const part of parts)
            say(
              guest,
              'type' in part ? answer(part.type, part.id, part.payload) : Buffer.from(part),
            );
          guest.push(null);
          guest.destroy();
          await waiting;
          await link.lost;
        },
      ),
    );
  });
});
