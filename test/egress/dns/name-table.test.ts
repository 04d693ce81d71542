import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeAddresses, MAX_NAMES } from '../../../src/egress/dns/name-table.ts';

describe('FakeAddresses', () => {
  it('gives addresses in order, the same for the same name', () => {
    const table = new FakeAddresses();
    expect(table.addressOf('a.example')).toBe('198.18.0.1');
    expect(table.addressOf('b.example')).toBe('198.18.0.2');
    expect(table.addressOf('a.example')).toBe('198.18.0.1');
    expect(table.nameOf('198.18.0.2')).toBe('b.example');
    expect(table.nameOf('198.18.0.3')).toBeUndefined();
  });

  it('holds as many names as it says, all in its range, none at an edge', () => {
    const table = new FakeAddresses();
    const seen = new Set<string>();
    for (let index = 0; index < MAX_NAMES; index++) {
      const address = table.addressOf(`n${index}.example`) ?? '';
      const [first, second, , last] = address.split('.').map(Number);
      if (first !== 198 || (second !== 18 && second !== 19) || last === 0 || last === 255)
        throw new Error(`${address} at ${index}`);
      seen.add(address);
    }
    expect(seen.size).toBe(MAX_NAMES);
    expect(seen.has('198.19.2.4')).toBe(true);
    expect(table.addressOf('one-more.example')).toBeUndefined();
    expect(table.addressOf('n7.example')).toBe('198.18.0.8');
  });

  it('leads back from every address to its name', () => {
    fc.assert(
      fc.property(fc.array(fc.domain()), (names) => {
        const table = new FakeAddresses();
        const addresses = names.map((name) => table.addressOf(name) ?? '');
        expect(addresses.map((address) => table.nameOf(address))).toEqual(names);
        expect(new Set(addresses).size).toBe(new Set(names).size);
      }),
    );
  });
});
