import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Destination } from '../../src/egress/egress.ts';
import { type LiveRules, makeEgressRules } from '../../src/egress/rules.ts';
import type { NetRule } from '../../src/policy/policy.ts';

const CLOCK = { now: () => 0, after: () => () => undefined };

function makeRules(net: readonly NetRule[]): LiveRules {
  return makeEgressRules({ policy: { net, inject: [] }, clock: CLOCK });
}

function rule(effect: NetRule['effect'], text: string): NetRule {
  return { effect, text, origin: { source: 'p.yaml:1:1', key: `net.${effect}`, text } };
}

const HOSTS = ['a.org', 'b.org', 'x.a.org', 'y.x.a.org', 'xa.org', 'org'];
const PORTS = [22, 80, 443];
const patterns = fc.constantFrom(...HOSTS, '*.a.org', '*.org', '*.x.a.org', '*');
const portTexts = fc.constantFrom('', ':22', ':80', ':443', ':22-80', ':80-443');
const nameEntries = fc.tuple(patterns, portTexts).map(([host, port]) => host + port);
const effects = fc.constantFrom<NetRule['effect']>('allow', 'deny');

function holdsPort(entry: string, port: number): boolean {
  const [, text] = entry.split(':');
  if (text === undefined) return true;
  const [from = '', to = from] = text.split('-');
  return port >= Number(from) && port <= Number(to);
}

/** By the words of the documents, label by label. */
function holdsName(entry: string, name: string): boolean {
  const [pattern = ''] = entry.split(':');
  if (pattern === '*') return true;
  const wanted = pattern.split('.').reverse();
  const labels = name.split('.').reverse();
  if (wanted.at(-1) !== '*') return wanted.join() === labels.join();
  const fixed = wanted.slice(0, -1);
  return labels.length > fixed.length && fixed.every((label, at) => label === labels[at]);
}

describe('decide()', () => {
  it('agrees with a reading of the rules one by one, for names', () => {
    const rules = fc.array(fc.tuple(effects, nameEntries), { maxLength: 6 });
    fc.assert(
      fc.property(
        rules,
        fc.constantFrom(...HOSTS),
        fc.constantFrom(...PORTS),
        (entries, name, port) => {
          const holding = entries.filter(
            ([, entry]) => holdsName(entry, name) && holdsPort(entry, port),
          );
          const isDenied = holding.some(([effect, entry]) => effect === 'deny' && entry !== '*');
          const wanted = !isDenied && holding.some(([effect]) => effect === 'allow');
          const asked = { protocol: 'tcp', name, port } as const;
          const net = entries.map(([effect, entry]) => rule(effect, entry));
          const verdict = makeRules(net).decide(asked);
          expect(verdict.isAllowed).toBe(wanted);
          if (!wanted && verdict.hint !== undefined) {
            const flag = verdict.hint.replace('--allow-net ', '');
            expect(makeRules([...net, rule('allow', flag)]).decide(asked).isAllowed).toBe(true);
          }
          expect(makeRules(net.toReversed()).decide(asked).isAllowed).toBe(wanted);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('agrees with the block list of Node, for addresses of the internet', () => {
    const address = fc
      .tuple(fc.constantFrom(8, 9, 93), fc.nat(3), fc.nat(3), fc.nat(255))
      .map((octets) => octets.join('.'));
    const entry = fc
      .tuple(address, fc.constantFrom(8, 14, 16, 24, 30, 32))
      .map(([text, prefix]) => {
        const value = text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
        const size = 2 ** (32 - prefix);
        const base = Math.floor(value / size) * size;
        return `${[24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join('.')}/${prefix}`;
      });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(effects, entry), { maxLength: 6 }),
        address,
        (entries, asked) => {
          const lists = { allow: new BlockList(), deny: new BlockList() };
          for (const [effect, text] of entries) {
            const [net = '', prefix] = text.split('/');
            lists[effect].addSubnet(net, Number(prefix));
          }
          const wanted = lists.allow.check(asked) && !lists.deny.check(asked);
          const rules = makeRules(entries.map(([effect, text]) => rule(effect, text)));
          expect(rules.decide({ protocol: 'tcp', address: asked, port: 80 }).isAllowed).toBe(
            wanted,
          );
        },
      ),
      { numRuns: 1500 },
    );
  });
});

describe('the hint', () => {
  it('is a flag that is enough, or is not there', () => {
    const entries = fc.constantFrom(
      '*:443',
      'private',
      '10.0.0.0/8',
      '0.0.0.0/1',
      '64:ff9b::/96',
      'a.org',
    );
    const rules = fc.array(fc.tuple(effects, entries), { maxLength: 3 });
    const v4 = fc.constantFrom(...INSIDE, '8.8.8.8', '93.184.216.34');
    const address = fc.oneof(
      v4,
      fc.tuple(v4, fc.constantFrom(...ENCODINGS)).map(([text, [, to]]) => encode(text, to)),
      fc.ipV6(),
    );
    const destination = fc.constantFrom<Destination | undefined>(undefined, {
      protocol: 'tcp',
      name: 'a.org',
      port: 443,
    });
    fc.assert(
      fc.property(rules, address, destination, (net, text, named) => {
        const asked = named ?? { protocol: 'tcp' as const, address: text, port: 443 };
        const own = net.map(([effect, entry]) => rule(effect, entry));
        const { isAllowed, hint } = makeRules(own).decideAddress(asked, text);
        if (isAllowed) expect(hint).toBeUndefined();
        if (hint === undefined) return;
        const flag = rule('allow', hint.replace('--allow-net ', ''));
        const after = makeRules([...own, flag]).decideAddress(asked, text);
        // A name needs a rule of its own first.
        if (asked.name === undefined || hint !== '--allow-net a.org:443')
          expect([text, hint, after.isAllowed]).toEqual([text, hint, true]);
      }),
      { numRuns: 1500 },
    );
  });
});

/** IPv4 written in every way that ends at it. */
const ENCODINGS: readonly [string, (high: string, low: string) => string][] = [
  ['as it is', (high, low) => `::ffff:${high}:${low}`],
  ['compatible', (high, low) => `::${high}:${low}`],
  ['translated', (high, low) => `::ffff:0:${high}:${low}`],
  ['NAT64', (high, low) => `64:ff9b::${high}:${low}`],
  ['NAT64 of a network', (high, low) => `64:ff9b:1::${high}:${low}`],
  ['6to4', (high, low) => `2002:${high}:${low}::1`],
  ['Teredo', (high, low) => `2001:0:${high}:${low}::`],
  ['ISATAP', (high, low) => `2606:4700::5efe:${high}:${low}`],
];

const INSIDE = [
  '127.0.0.1',
  '127.1.2.3',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.1.1',
  '169.254.169.254',
  '100.100.100.200',
  '0.0.0.0',
  '0.1.2.3',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '192.0.2.1',
  '240.0.0.1',
  '192.0.0.1',
];

function encode(address: string, to: (high: string, low: string) => string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return to((a * 256 + b).toString(16), (c * 256 + d).toString(16));
}

describe('what an allowed name leads to', () => {
  const named: Destination = { protocol: 'tcp', name: 'rebound.example.org', port: 443 };

  it.each(ENCODINGS)('is never inside, written %s', (_, to) => {
    const rules = makeRules([
      rule('allow', '*.example.org'),
      rule('allow', '*:443'),
      rule('allow', '0.0.0.0/1'),
      rule('allow', '128.0.0.0/1'),
      rule('allow', '::/1'),
      rule('allow', '127.0.0.1'),
      rule('allow', 'localhost'),
    ]);
    for (const address of INSIDE) {
      const written = encode(address, to);
      expect([written, rules.decideAddress(named, written).isAllowed]).toEqual([written, false]);
      const asked = { protocol: 'tcp', address: written, port: 443 } as const;
      expect([written, rules.decide(asked).isAllowed]).toEqual([written, false]);
    }
  });

  it.each(ENCODINGS)('is denied by the address in it, written %s', (_, to) => {
    const rules = makeRules([
      rule('allow', '*.example.org'),
      rule('allow', '2000::/3'),
      rule('allow', '64:ff9b::/96'),
      rule('allow', '2002::/16'),
      rule('deny', '93.184.216.0/24'),
    ]);
    const written = encode('93.184.216.34', to);
    expect(rules.decideAddress(named, written).isAllowed).toBe(false);
  });

  it.each(['fc00::1', 'fe80::1', '::1', '::', 'ff02::1', 'fd00:ec2::254', 'fec0::1', '100::1'])(
    'is not %s',
    (address) =>
      expect(
        makeRules([rule('allow', '*.example.org'), rule('allow', '::/1')]).decideAddress(
          named,
          address,
        ).isAllowed,
      ).toBe(false),
  );

  it('opens metadata by its own name only', () => {
    const open = (entry: string): boolean =>
      makeRules([rule('allow', '*.example.org'), rule('allow', entry)]).decideAddress(
        named,
        '169.254.169.254',
      ).isAllowed;
    expect(['link-local', '169.254.0.0/16', 'private', '*:443'].filter(open)).toEqual([]);
    expect(['metadata', '169.254.169.254', '169.254.169.254:443'].every(open)).toBe(true);
  });

  it('opens no address that leads to nobody, or to the names of a run', () => {
    for (const address of ['0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1', '::']) {
      const rules = makeRules([rule('allow', '*.example.org'), rule('allow', address)]);
      expect([address, rules.decideAddress(named, address).isAllowed]).toEqual([address, false]);
    }
  });

  it('is allowed for the internet, also with special entries beside it', () => {
    const addresses = fc
      .tuple(fc.constantFrom(1, 8, 93, 151), fc.nat(255), fc.nat(255), fc.nat(255))
      .map((octets) => octets.join('.'));
    const rules = makeRules([rule('allow', '*.example.org'), rule('deny', 'private')]);
    fc.assert(
      fc.property(addresses, (address) => {
        expect(rules.decideAddress(named, address).isAllowed).toBe(true);
        expect(rules.decideAddress(named, `::ffff:${address}`).isAllowed).toBe(true);
      }),
    );
  });
});
