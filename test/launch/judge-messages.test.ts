import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { BrokerReader, writeAnswer, writeForget } from '../../src/launch/judge-messages.ts';

const DOOR_PORTS = { proxy: 40_001, dns: 40_002 };

interface Question {
  readonly kind?: number;
  readonly family?: number;
  readonly address: readonly number[];
  readonly ownPort?: number;
  readonly flags?: number;
}

/** As native/judge.h lays it out. */
function makeQuestion({ kind = 1, family = 4, address, ownPort = 0, flags = 0 }: Question): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.writeUInt32LE(kind, 0);
  bytes.writeUInt32LE(0x1234_5678, 4);
  bytes.writeUInt16LE(443, 12);
  bytes.writeUInt16LE(ownPort, 14);
  bytes.writeUInt32LE(family, 16);
  bytes.set(address, 20);
  bytes.writeUInt32LE(flags, 36);
  return bytes;
}

describe('BrokerReader', () => {
  it('reads messages wherever the stream is cut', () => {
    const stream = Buffer.concat([
      makeQuestion({ address: [192, 0, 2, 9] }),
      makeQuestion({ address: [0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1], family: 6, flags: 2 }),
      makeQuestion({ kind: 2, address: [], ownPort: 55_555 }),
      makeQuestion({ address: [198, 18, 0, 1], flags: 1 }),
      makeQuestion({ address: [198, 18, 0, 1], flags: 4 }),
    ]);
    const question = {
      kind: 'question',
      id: 0x1234_5678,
      port: 443,
      isAgain: false,
      isKept: false,
      isReview: false,
    };
    const expected = [
      { ...question, address: '192.0.2.9' },
      { ...question, address: '2001:db8:0:0:0:0:0:1', isAgain: true },
      { kind: 'came', port: 443, ownPort: 55_555 },
      { ...question, address: '198.18.0.1', isKept: true },
      { ...question, address: '198.18.0.1', isReview: true },
    ];
    for (let size = 1; size <= stream.length; size += 13) {
      const reader = new BrokerReader();
      const read = [];
      for (let at = 0; at < stream.length; at += size)
        read.push(...reader.feed(stream.subarray(at, at + size)));
      expect(read).toEqual(expected);
    }
  });
});

describe('writeAnswer()', () => {
  const write = (answer: Parameters<typeof writeAnswer>[0]['answer']): Buffer =>
    writeAnswer({ id: 7, answer, doorPorts: DOOR_PORTS });
  const endpointOf = (bytes: Buffer): string => bytes.toString('latin1', 40, bytes.indexOf(0, 40));

  it('names the place to connect to', () => {
    const endpoint = 'tcp:example.org:443';
    const bytes = write({
      kind: 'dial',
      address: '192.0.2.9',
      port: 443,
      endpoint,
      canKeep: true,
      mayBeOwn: false,
    });
    expect(bytes).toHaveLength(320);
    expect([0, 4, 8, 12, 16].map((at) => bytes.readUInt32LE(at))).toEqual([1, 7, 0, 1, 4]);
    expect(bytes.readUInt16LE(20)).toBe(443);
    expect([...bytes.subarray(24, 28)]).toEqual([192, 0, 2, 9]);
    expect(endpointOf(bytes)).toBe(endpoint);
  });

  it('leads to a door at its real port', () => {
    const bytes = write({ kind: 'door', door: 'dns' });
    expect(bytes.readUInt32LE(12)).toBe(3);
    expect(bytes.readUInt16LE(20)).toBe(DOOR_PORTS.dns);
    expect(endpointOf(bytes)).toBe('tcp:127.0.0.53:53');
  });

  it('refuses with an error, and with EACCES for one that is none', () => {
    const { errno } = constants;
    expect(write({ kind: 'refused', errno: 'EHOSTUNREACH' }).readInt32LE(8)).toBe(
      errno.EHOSTUNREACH,
    );
    expect(write({ kind: 'refused', errno: 'EODD' }).readInt32LE(8)).toBe(errno.EACCES);
  });

  it('keeps a name that is too long within its room', () => {
    const endpoint = `tcp:${'a'.repeat(400)}:443`;
    expect(write({ kind: 'refused', errno: 'EACCES', endpoint })[319]).toBe(0);
  });
});

it('writeForget() is a message of the same size', () => {
  expect(writeForget()).toHaveLength(320);
  expect(writeForget().readUInt32LE(0)).toBe(2);
});
