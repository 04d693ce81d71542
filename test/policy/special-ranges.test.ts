import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIp, type IpAddress, parseIp } from '../../src/policy/ip-address.ts';
import {
  findEmbedded,
  findSpecial,
  listSpecialRanges,
  type SpecialKind,
} from '../../src/policy/special-ranges.ts';

const RANGES = listSpecialRanges();

function read(text: string): IpAddress {
  const address = parseIp(text);
  if (!address) throw new Error(text);
  return address;
}

function kindOf(text: string): SpecialKind | undefined {
  return findSpecial(RANGES, read(text))?.kind;
}

describe('findSpecial()', () => {
  it.each<[string, SpecialKind | undefined]>([
    ['0.0.0.0', 'unspecified'],
    ['0.255.255.255', 'unspecified'],
    ['1.0.0.0', undefined],
    ['9.255.255.255', undefined],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', undefined],
    ['100.63.255.255', undefined],
    ['100.64.0.0', 'private'],
    ['100.127.255.255', 'private'],
    ['100.128.0.0', undefined],
    ['100.100.100.200', 'metadata'],
    ['126.255.255.255', undefined],
    ['127.0.0.0', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['128.0.0.0', undefined],
    ['168.63.129.16', 'metadata'],
    ['169.253.255.255', undefined],
    ['169.254.0.0', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['169.254.255.255', 'link-local'],
    ['169.255.0.0', undefined],
    ['172.15.255.255', undefined],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', undefined],
    ['192.0.0.1', 'reserved'],
    ['192.0.0.192', 'metadata'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'translation'],
    ['192.167.255.255', undefined],
    ['192.168.0.0', 'private'],
    ['192.168.255.255', 'private'],
    ['192.169.0.0', undefined],
    ['198.17.255.255', undefined],
    ['198.18.0.0', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.20.0.0', undefined],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['223.255.255.255', undefined],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.254', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::2', 'translation'],
    ['::7f00:1', 'translation'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:0:7f00:1', 'translation'],
    ['64:ff9b::1', 'translation'],
    ['64:ff9b:1::1', 'translation'],
    ['64:ff9b:2::1', 'reserved'],
    ['100::1', 'reserved'],
    ['1fff::1', 'reserved'],
    ['2000::1', undefined],
    ['2001::1', 'translation'],
    ['2001:2::1', 'benchmarking'],
    ['2001:10::1', 'reserved'],
    ['2001:200::1', undefined],
    ['2001:db8::1', 'documentation'],
    ['2001:db9::1', undefined],
    ['2002::1', 'translation'],
    ['2606:4700::1111', undefined],
    ['3fff::1', 'documentation'],
    ['3fff:1000::1', undefined],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fbff::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'metadata'],
    ['fdff::1', 'private'],
    ['fe00::1', 'reserved'],
    ['fe80::1', 'link-local'],
    ['fe80::a9fe:a9fe', 'metadata'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
  ])('%s is %s', (text, kind) => expect(kindOf(text)).toBe(kind));

  it('agrees with the block list of Node about what is of the internet', () => {
    const special = new BlockList();
    for (const subnet of [
      '0.0.0.0/8',
      '10.0.0.0/8',
      '100.64.0.0/10',
      '127.0.0.0/8',
      '168.63.129.16/32',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3',
    ]) {
      const [net = '', prefix] = subnet.split('/');
      special.addSubnet(net, Number(prefix));
    }
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect([text, kindOf(text) !== undefined]).toEqual([text, special.check(text)]);
      }),
      { numRuns: 20_000 },
    );
  });
});

/** 169.254.169.254, as IPv6 writes it. */
const PAIR = 'a9fe:a9fe';

describe('findEmbedded()', () => {
  const embedded = (text: string): string[] => findEmbedded(read(text)).map(formatIp);

  it.each([
    ['compatible', `::${PAIR}`],
    ['translated', `::ffff:0:${PAIR}`],
    ['NAT64', `64:ff9b::${PAIR}`],
    ['NAT64 of a network', `64:ff9b:1::${PAIR}`],
    ['6to4', `2002:${PAIR}::1`],
    ['Teredo, as the server', `2001:0:${PAIR}::`],
    ['Teredo, as the client', '2001:0:0808:0808:0:0:5601:5601'],
    ['ISATAP', `2606:4700::5efe:${PAIR}`],
    ['ISATAP with a global identifier', `2606:4700::200:5efe:${PAIR}`],
    ['ISATAP below a link', `fe80::5efe:${PAIR}`],
  ])('finds 169.254.169.254 in %s', (_, text) =>
    expect(embedded(text)).toContain('169.254.169.254'),
  );

  it('finds both in 6to4 around ISATAP', () => {
    expect(embedded('2002:a00:1::5efe:a9fe:a9fe')).toEqual(['10.0.0.1', '169.254.169.254']);
  });

  it.each(['::', '::1', '2606:4700::a9fe:a9fe', 'fe80::1', '10.0.0.1'])(
    'finds none in %s',
    (text) => expect(embedded(text)).toEqual([]),
  );
});
