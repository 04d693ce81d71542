import { describe, expect, it } from 'vitest';
import { listRoutedRanges, needsDoors } from '../../src/plan/routed-ranges.ts';
import { formatIp, fromIpBytes } from '../../src/policy/ip-address.ts';
import type { NetRule } from '../../src/policy/policy.ts';

function allow(...texts: string[]): NetRule[] {
  return texts.map((text) => ({
    effect: 'allow',
    text,
    origin: { source: 'test', key: 'net.allow', text },
  }));
}

function list(net: readonly NetRule[]): string[] {
  return listRoutedRanges(net).map(({ family, address, prefix, ports }) => {
    const value = fromIpBytes(address) ?? { bits: 32, value: 0n };
    expect(address.length).toBe(family === 4 ? 4 : 16);
    return `${formatIp(value)}/${prefix}${ports ? `:${ports.from}-${ports.to}` : ''}`;
  });
}

describe('listRoutedRanges()', () => {
  it('lists what is allowed as an address, and no names', () => {
    expect(
      list(allow('a.org', '*.b.org:443', '10.1.0.0/16:5432', '2001:db8::/32', '1.2.3.4')),
    ).toEqual(['10.1.0.0/16:5432-5432', '1.2.3.4/32', '2001:db8::/32']);
  });

  it('leaves out what another range holds', () => {
    expect(list(allow('10.1.0.0/16:80', '10.0.0.0/8', '10.2.3.4'))).toEqual(['10.0.0.0/8']);
    expect(list(allow('10.0.0.0/8:80', '10.1.0.0/16:443'))).toEqual([
      '10.0.0.0/8:80-80',
      '10.1.0.0/16:443-443',
    ]);
  });

  it('holds everything for an open port', () => {
    expect(list(allow('*:443'))).toEqual(['0.0.0.0/0:443-443', '::/0:443-443']);
  });

  it('knows sets of addresses', () => {
    expect(list(allow('private'))).toContain('172.16.0.0/12');
    expect(list(allow('github', 'claude'))).toEqual([]);
  });

  it('keeps the loopback of the run out of it, and holds a port of the host', () => {
    expect(list(allow('127.0.0.1', 'localhost', '::1', 'loopback'))).toEqual([]);
    expect(list(allow('localhost:80'))).toEqual(['127.0.0.1/32:80-80', '::1/128:80-80']);
  });

  it('takes nothing from what is denied', () => {
    expect(list(allow('10.0.0.0/8').map((one) => ({ ...one, effect: 'deny' })))).toEqual([]);
  });
});

describe('needsDoors()', () => {
  it.each(['127.0.0.1', 'localhost', '::1', '127.0.0.0/8', '127.0.0.53'])('not for %s', (text) =>
    expect(needsDoors(allow(text))).toBe(false),
  );

  it.each(['a.org', '10.0.0.1', 'github', 'localhost:80', '443', 'loopback'])('for %s', (text) =>
    expect(needsDoors(allow(text))).toBe(true),
  );

  it('not for a set that stands for nothing here', () => {
    expect(needsDoors(allow('npm'))).toBe(false);
    expect(needsDoors(allow('npm').map((one) => ({ ...one, entries: ['a.org:443'] })))).toBe(true);
  });
});
