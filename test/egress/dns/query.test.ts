import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeAnswer } from '../../../src/egress/dns/answer.ts';
import { readQuery } from '../../../src/egress/dns/query.ts';
import { OPT, packName, packQuery } from './messages.ts';

const withFixed = (name: Buffer): Buffer => Buffer.concat([name, Buffer.from([0, 1, 0, 1])]);

describe('readQuery()', () => {
  it('reads one question', () => {
    expect(readQuery(packQuery('www.Example.org', { type: 28 }))).toMatchObject({
      kind: 'query',
      query: { id: 0x1234, name: 'www.Example.org', type: 28, class: 1, hasEdns: false },
    });
    expect(readQuery(packQuery('a.b', { tail: OPT }))).toMatchObject({ query: { hasEdns: true } });
  });

  it('reads the root', () => {
    const query = packQuery('', { body: withFixed(packName()) });
    expect(readQuery(query)).toMatchObject({ kind: 'query', query: { name: '' } });
  });

  it('writes odd bytes so that no name looks like another', () => {
    const body = withFixed(packName('a.b', Buffer.from([0, 92, 255, 32]), 'c'));
    expect(readQuery(packQuery('', { body }))).toMatchObject({
      query: { name: String.raw`a\046b.\000\092\255\032.c` },
    });
  });

  const longest = packName(...Array.from({ length: 3 }, () => 'x'.repeat(63)), 'y'.repeat(61));
  it('takes the longest name', () => {
    expect(longest.length).toBe(255);
    expect(readQuery(packQuery('', { body: withFixed(longest) })).kind).toBe('query');
  });

  const plain = packQuery('a.b');
  const bad: [string, Buffer, string][] = [
    ['no question', packQuery('a.b', { counts: [0, 0, 0, 0], body: Buffer.alloc(0) }), 'FORMERR'],
    ['two questions', packQuery('a.b', { counts: [2, 0, 0, 0] }), 'FORMERR'],
    ['an answer inside', packQuery('a.b', { counts: [1, 1, 0, 0] }), 'FORMERR'],
    ['an authority inside', packQuery('a.b', { counts: [1, 0, 1, 0] }), 'FORMERR'],
    ['bytes behind it', Buffer.concat([plain, Buffer.from([0])]), 'FORMERR'],
    ['no end of the name', plain.subarray(0, 15), 'FORMERR'],
    ['no type', plain.subarray(0, plain.length - 1), 'FORMERR'],
    ['an OPT that is too long', packQuery('a.b', { tail: OPT.subarray(0, 10) }), 'FORMERR'],
    ['another additional record', packQuery('a.b', { tail: Buffer.alloc(11) }), 'FORMERR'],
    ['two OPT records', packQuery('a.b', { tail: OPT, counts: [1, 0, 0, 2] }), 'FORMERR'],
    ['a truncated one', packQuery('a.b', { flags: 0x0300 }), 'FORMERR'],
    ['the reserved bit', packQuery('a.b', { flags: 0x0140 }), 'FORMERR'],
    ['a response code', packQuery('a.b', { flags: 0x0103 }), 'FORMERR'],
    ['a status request', packQuery('a.b', { flags: 0x1100 }), 'NOTIMP'],
    ['an update', packQuery('a.b', { flags: 0x2800 }), 'NOTIMP'],
    ['a pointer', packQuery('', { body: withFixed(Buffer.from([0xc0, 12])) }), 'FORMERR'],
    [
      'a pointer behind a label',
      packQuery('', { body: withFixed(Buffer.from([1, 97, 0xc0, 12])) }),
      'FORMERR',
    ],
    [
      'an extended label',
      packQuery('', { body: withFixed(Buffer.concat([Buffer.from([0x41]), longest])) }),
      'FORMERR',
    ],
    [
      'a name of 256 bytes',
      packQuery('', {
        body: withFixed(
          packName(...Array.from({ length: 3 }, () => 'x'.repeat(63)), 'y'.repeat(62)),
        ),
      }),
      'FORMERR',
    ],
    [
      'a huge message',
      packQuery('a.b', {
        tail: Buffer.concat([OPT.subarray(0, 9), Buffer.from([0x05, 0]), Buffer.alloc(1280)]),
      }),
      'FORMERR',
    ],
    [
      'a later EDNS',
      packQuery('a.b', { tail: Buffer.from('0000291000000100000000', 'hex') }),
      'BADVERS',
    ],
  ];
  it.each(bad)('refuses %s', (_, bytes, rcode) => {
    expect(readQuery(bytes)).toMatchObject({ kind: 'bad', rcode, header: { id: 0x1234 } });
  });

  it('does not answer answers, nor scraps', () => {
    expect(readQuery(packQuery('a.b', { flags: 0x8100 }))).toEqual({ kind: 'noise' });
    expect(readQuery(Buffer.alloc(11))).toEqual({ kind: 'noise' });
  });

  it('reads anything without a crash, and answers within bounds', () => {
    const changed = fc
      .tuple(fc.uint8Array({ maxLength: 4 }), fc.nat(40), fc.nat(40))
      .map(([patch, at, cut]) => {
        const bytes = packQuery('some.example.org', { tail: OPT });
        Buffer.from(patch).copy(bytes, at);
        return bytes.subarray(0, bytes.length - cut);
      });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 1400 }).map((raw) => Buffer.from(raw)),
      changed,
    );
    fc.assert(
      fc.property(bytes, (message) => {
        const read = readQuery(message);
        if (read.kind === 'noise') return;
        const answer =
          read.kind === 'bad'
            ? writeAnswer(read.header, read.rcode)
            : writeAnswer(read.query, 'NXDOMAIN');
        expect(answer.length).toBeLessThanOrEqual(12 + 259 + 11);
        expect(answer.readUInt16BE(0)).toBe(message.readUInt16BE(0));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('writeAnswer()', () => {
  it('says what the bytes of a whole answer are', () => {
    const read = readQuery(packQuery('a.bc', { tail: OPT }));
    if (read.kind !== 'query') throw new Error('not read');
    const data = Buffer.from([198, 18, 0, 1]);
    const bytes = writeAnswer(read.query, 'NOERROR', [{ type: 1, ttlSeconds: 5, data }]);
    const parts = [
      '1234818000010001000000010161026263000001',
      '0001c00c0001000100000005',
      '0004c6120001',
      '00002904d0000000000000',
    ];
    expect(bytes.toString('hex')).toBe(parts.join(''));
  });

  it('puts the high bits of BADVERS into the OPT record', () => {
    const read = readQuery(
      packQuery('a.b', { tail: Buffer.from('0000291000000100000000', 'hex') }),
    );
    if (read.kind !== 'bad') throw new Error('read');
    const bytes = writeAnswer(read.header, read.rcode);
    expect([bytes.readUInt16BE(2) & 15, bytes.subarray(-11)[5]]).toEqual([0, 1]);
  });
});
