import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatIp,
  formatRange,
  fromIpBytes,
  isInRange,
  parseIp,
  parseRange,
  toIpBytes,
} from '../../src/policy/ip-address.ts';

const v4 = fc.ipV4();
const v6 = fc.ipV6();

describe('parseIp()', () => {
  it('reads IPv6 as the URL parser of Node does', () => {
    fc.assert(
      fc.property(v6, (text) => {
        const address = parseIp(text);
        expect(address).toBeDefined();
        if (address?.bits !== 128) return;
        expect(`[${formatIp(address)}]`).toBe(new URL(`http://[${text}]/`).hostname);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes only what Node takes for an address, and nothing with a zone', () => {
    const texts = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789abfF:.%x')),
      maxLength: 20,
    });
    fc.assert(
      fc.property(texts, (text) => {
        const wanted = isIP(text) !== 0 && !text.includes('%');
        expect([text, parseIp(text) !== undefined]).toEqual([text, wanted]);
      }),
      { numRuns: 20_000 },
    );
  });

  it('has one spelling for each address', () => {
    fc.assert(
      fc.property(fc.oneof(v4, v6), (text) => {
        const address = parseIp(text);
        if (!address) throw new Error(text);
        expect(parseIp(formatIp(address))).toEqual(address);
        expect(fromIpBytes(toIpBytes(address))).toEqual(address);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes an IPv4-mapped address for the IPv4 in it, however it is written', () => {
    for (const text of ['::ffff:10.1.2.3', '::FFFF:a01:203', '0:0:0:0:0:ffff:0a01:0203'])
      expect(formatIp(parseIp(text) ?? { bits: 32, value: 0n })).toBe('10.1.2.3');
    const bytes = Uint8Array.from([...Array<number>(10).fill(0), 255, 255, 10, 1, 2, 3]);
    expect(fromIpBytes(bytes)).toEqual(parseIp('10.1.2.3'));
  });

  it.each([
    ['0:0:1:0:0:0:0:1', '0:0:1::1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['2001:0db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:1:0:1:0:1:0:1', '0:1:0:1:0:1:0:1'],
    ['::', '::'],
    ['1::', '1::'],
  ])('writes %s as %s', (text, wanted) =>
    expect(formatIp(parseIp(text) ?? { bits: 32, value: 0n })).toBe(wanted),
  );

  it('takes neither too few nor too many bytes', () => {
    for (const length of [0, 3, 5, 15, 17])
      expect(fromIpBytes(new Uint8Array(length))).toBeUndefined();
  });
});

describe('parseRange()', () => {
  it('holds exactly the addresses with its first bits', () => {
    fc.assert(
      fc.property(v4, v4, fc.integer({ min: 0, max: 32 }), (base, other, prefix) => {
        const toBits = (text: string): string =>
          text
            .split('.')
            .map((octet) => Number(octet).toString(2).padStart(8, '0'))
            .join('');
        const bits = toBits(base).slice(0, prefix).padEnd(32, '0');
        const octets = [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2));
        const range = parseRange(`${octets.join('.')}/${prefix}`);
        const address = parseIp(other);
        if (!range || !address) throw new Error(base);
        expect(isInRange(range, address)).toBe(toBits(other).startsWith(bits.slice(0, prefix)));
        expect(parseRange(formatRange(range))).toEqual(range);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['10.0.0.1/8', '::1/0', '1.2.3.4/33', '::/129', '1.2.3.4/', '1.2.3.4/08x', 'x/8', ''])(
    'refuses %j',
    (text) => expect(parseRange(text)).toBeUndefined(),
  );
});
