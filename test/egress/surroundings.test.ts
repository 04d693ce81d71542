import { afterEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../src/egress/egress.ts';
import { makeResolver, type OutsideLookup } from '../../src/egress/resolver.ts';
import { type LiveRules, makeEgressRules } from '../../src/egress/rules.ts';
import { HostSurroundings } from '../../src/egress/surroundings.ts';
import { SYSTEM_CLOCK } from '../../src/egress/system-clock.ts';
import { formatIp, formatRange, parseIp } from '../../src/policy/ip-address.ts';

const made: LiveRules[] = [];
afterEach(() => made.splice(0).forEach((rules) => rules.close()));

function makeRules(texts: readonly string[], surroundings?: HostSurroundings): LiveRules {
  const net = texts.map((text) => {
    const origin = { source: 'policy.yaml:3:5', key: 'net.allow', text };
    return { effect: 'allow' as const, text, origin };
  });
  const rules = makeEgressRules({ policy: { net, inject: [] }, clock: SYSTEM_CLOCK, surroundings });
  made.push(rules);
  return rules;
}

const surround = (own: readonly string[] = []): HostSurroundings =>
  new HostSurroundings(
    () => 0,
    () => own,
  );
const toName = (name: string, port = 443): Destination => ({ protocol: 'tcp', name, port });
const toAddress = (address: string, port = 443): Destination => ({
  protocol: 'tcp',
  address,
  port,
});

describe('the host itself', () => {
  const OWN = ['11.9.9.9', '10.0.0.5', '2001:db8:7::9', '127.0.0.1'];
  const open = (...texts: string[]): LiveRules => makeRules(texts, surround(OWN));

  it.each(['11.9.9.9', '10.0.0.5', '2001:db8:7::9', '64:ff9b::b09:909', '2002:b09:909::1'])(
    'is not reached by a name or a range that leads to %s',
    (address) => {
      const rules = open(
        'example.org',
        '*:443',
        'private',
        '11.0.0.0/8',
        '2001:db8::/32',
        '2002::/16',
      );
      const verdict = rules.decideAddress(toName('example.org'), address);
      expect(verdict.isAllowed).toBe(false);
      expect(verdict.reason).toMatch(/is an address of this host$/);
      expect(rules.decide(toAddress(address)).isAllowed).toBe(false);
    },
  );

  it('is reached where its address is named, on that port', () => {
    const rules = open('example.org', '11.9.9.9:443');
    expect(rules.decideAddress(toName('example.org'), '11.9.9.9').isAllowed).toBe(true);
    expect(rules.decide(toAddress('11.9.9.9')).isAllowed).toBe(true);
    expect(rules.decideAddress(toName('example.org', 80), '11.9.9.9')).toMatchObject({
      isAllowed: false,
      hint: '--allow-net 11.9.9.9:80',
    });
  });

  it('is known by what the kernel says, too, and others are not it', () => {
    const rules = open('example.org', '11.7.7.7:80', 'loopback');
    const to = toName('example.org');
    expect(rules.decideAddress(to, '11.8.8.8').isAllowed).toBe(true);
    expect(rules.decideAddress(to, '11.8.8.8', { isOwn: true }).isAllowed).toBe(false);
    const named = toName('example.org', 80);
    expect(rules.decideAddress(named, '11.7.7.7', { isOwn: true }).isAllowed).toBe(true);
    expect(rules.decideAddress(to, '127.0.0.1', { isOwn: true }).isAllowed).toBe(true);
  });
});

describe('a network with translators of its own', () => {
  /** 10.1.2.3 and 8.8.8.8 behind each length of prefix, as RFC 6052 has it in section 2.4. */
  const LENGTHS = [
    ['2001:db8::/32', '2001:db8:c000:aa::', '2001:db8:a01:203::', '2001:db8:808:808::'],
    ['2001:db8:100::/40', '2001:db8:1c0:0:aa::', '2001:db8:10a:102:3::', '2001:db8:108:808:8::'],
    [
      '2001:db8:122::/48',
      '2001:db8:122:c000:0:aa00::',
      '2001:db8:122:a01:2:300::',
      '2001:db8:122:808:8:800::',
    ],
    [
      '2001:db8:122:300::/56',
      '2001:db8:122:3c0:0:aa::',
      '2001:db8:122:30a:1:203::',
      '2001:db8:122:308:8:808::',
    ],
    [
      '2001:db8:122:344::/64',
      '2001:db8:122:344:c0:0:aa00::',
      '2001:db8:122:344:a:102:300::',
      '2001:db8:122:344:8:808:800::',
    ],
    [
      '2001:db8:122:344::/96',
      '2001:db8:122:344::c000:aa',
      '2001:db8:122:344::a01:203',
      '2001:db8:122:344::808:808',
    ],
    [
      '64:ff9b:1:fffe::/96',
      '64:ff9b:1:fffe::c000:ab',
      '64:ff9b:1:fffe::a01:203',
      '64:ff9b:1:fffe::808:808',
    ],
  ] as const;

  it.each(LENGTHS)(
    'is judged by what is behind its addresses: %s',
    (range, answer, inner, outer) => {
      const surroundings = surround();
      surroundings.learnNat64([answer]);
      expect(surroundings.nat64.map(formatRange)).toContain(range);
      const texts = ['example.org', '2001:db8::/32', '64:ff9b:1::/48'];
      const rules = makeRules(texts, surroundings);
      const verdict = rules.decideAddress(toName('example.org'), inner);
      const text = formatIp(parseIp(inner) ?? { bits: 128, value: 0n });
      expect(verdict.reason).toBe(`${text} leads to 10.1.2.3, which is a private address`);
      expect(rules.decideAddress(toName('example.org'), outer).isAllowed).toBe(true);
    },
  );

  it('of a length that nobody knows is judged by all that it may mean', () => {
    const rules = makeRules(['example.org', '64:ff9b:1::/48']);
    const judge = (address: string): boolean =>
      rules.decideAddress(toName('example.org'), address).isAllowed;
    expect(judge('64:ff9b:1::808:808')).toBe(true);
    for (const inner of [
      '64:ff9b:1::a01:203',
      '64:ff9b:1:a01:2:300::',
      '64:ff9b:1:a01:2:300:dead:beef',
      '64:ff9b:1:aa0a:1:203::',
      '64:ff9b:1:aaaa:a:102:300::',
    ])
      expect(judge(inner), inner).toBe(false);
  });
});

describe('a resolver in such a network', () => {
  function resolve(findTranslation: NonNullable<OutsideLookup['findTranslation']>) {
    const surroundings = surround();
    const rules = makeRules(['*.example.org', '*:443'], surroundings);
    const zone: Record<string, string[]> = {
      'four.example.org': ['11.1.1.1'],
      'six.example.org': ['2001:4860::1'],
      'both.example.org': ['11.1.1.1', '2001:4860::1'],
    };
    const lookup = async (name: string): Promise<string[]> => zone[name] ?? [];
    const outside = { lookup, findTranslation, close: () => undefined };
    return { surroundings, resolver: makeResolver({ rules, outside, surroundings }) };
  }

  it('asks what is translated once, before it hands out the first address of IPv6', async () => {
    let asked = 0;
    const { resolver, surroundings } = resolve(async () => {
      asked++;
      return ['2001:4860:64::c000:aa'];
    });
    await resolver.lookup('four.example.org');
    expect(asked).toBe(0);
    await Promise.all([resolver.lookup('six.example.org'), resolver.lookup('both.example.org')]);
    await resolver.prepare('2001:4860::2');
    expect(asked).toBe(1);
    expect(surroundings.nat64.map(formatRange)).toEqual(['2001:4860:64::/96']);
  });

  it('hands out none while that is not known', async () => {
    let asked = 0;
    const { resolver } = resolve(async () => {
      if (asked++ < 2) throw Object.assign(new Error('nobody answers'), { code: 'ETIMEOUT' });
      return [];
    });
    expect(await resolver.lookup('six.example.org')).toEqual({ kind: 'failed', code: 'ETIMEOUT' });
    expect(await resolver.lookup('both.example.org')).toEqual({
      kind: 'found',
      addresses: ['11.1.1.1'],
    });
    await resolver.prepare('2001:4860::2');
    expect(asked).toBe(3);
  });
});

it('HostSurroundings sees addresses that come and go, a moment later', () => {
  let now = 0;
  const own: string[] = [];
  const surroundings = new HostSurroundings(
    () => now,
    () => own,
  );
  const isOwn = (text: string): boolean => {
    const address = parseIp(text);
    return address !== undefined && surroundings.isOwn(address);
  };
  expect(isOwn('11.9.9.9')).toBe(false);
  own.push('11.9.9.9');
  now = 1000;
  expect(isOwn('11.9.9.9')).toBe(true);
  expect(isOwn('::ffff:11.9.9.9')).toBe(true);
  expect(isOwn('::11.9.9.9')).toBe(false);
});
