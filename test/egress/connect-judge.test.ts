import { describe, expect, it } from 'vitest';
import { makeConnectJudge } from '../../src/egress/connect-judge.ts';
import { FakeAddresses } from '../../src/egress/dns/name-table.ts';
import type { ConnectAnswer, ConnectJudge } from '../../src/egress/doors.ts';
import type { ConnectionFact } from '../../src/egress/egress.ts';
import type { Resolution } from '../../src/egress/resolver.ts';
import { type LiveRules, makeEgressRules } from '../../src/egress/rules.ts';
import type { NetRule, Policy } from '../../src/policy/policy.ts';

interface Kit {
  readonly judge: ConnectJudge;
  readonly rules: LiveRules;
  readonly names: FakeAddresses;
  readonly facts: ConnectionFact[];
  readonly ask: (address: string, port: number, isAgain?: boolean) => Promise<ConnectAnswer>;
}

function makeKit(
  allow: readonly (string | NetRule)[],
  found: Readonly<Record<string, readonly string[]>> = {},
): Kit {
  const net = allow.map((one): NetRule => {
    if (typeof one !== 'string') return one;
    const origin = { source: 'policy.yaml', key: 'net.allow', text: one };
    return { effect: 'allow', text: one, origin };
  });
  const policy = { net, inject: [] } as unknown as Policy;
  const clock = { now: () => 0, after: () => () => undefined };
  const rules = makeEgressRules({ policy, clock });
  const names = new FakeAddresses();
  const facts: ConnectionFact[] = [];
  const lookup = async (name: string): Promise<Resolution> => {
    const addresses = found[name];
    return addresses ? { kind: 'found', addresses } : { kind: 'missing' };
  };
  const log = { connection: (fact: ConnectionFact) => void facts.push(fact) };
  const resolver = { lookup, prepare: async () => undefined };
  const judge = makeConnectJudge({ rules, names, resolver, log, now: () => 5 });
  const ask = async (address: string, port: number, isAgain = false): Promise<ConnectAnswer> =>
    await judge.judge({ address, port, isAgain });
  return { judge, rules, names, facts, ask };
}

const dialOf = (answer: ConnectAnswer): string =>
  answer.kind === 'dial' ? `${answer.address} ${answer.port} ${answer.endpoint}` : answer.kind;

describe('makeConnectJudge()', () => {
  it('has allowed addresses dialled as they are, and tells of it', async () => {
    const { ask, facts } = makeKit(['192.0.2.0/24:443', '2001:db8::/32']);
    expect(dialOf(await ask('192.0.2.9', 443))).toBe('192.0.2.9 443 tcp:192.0.2.9:443');
    expect(dialOf(await ask('2001:db8:0:0:0:0:0:1', 22))).toBe(
      '2001:db8::1 22 tcp:[2001:db8::1]:22',
    );
    expect(facts.map(({ door, outcome, address }) => [door, outcome, address])).toEqual([
      ['broker', 'ok', '192.0.2.9'],
      ['broker', 'ok', '2001:db8::1'],
    ]);
  });

  it.each([
    ['192.0.2.9', 80],
    ['203.0.113.7', 443],
    ['127.0.0.1', 443],
    ['169.254.169.254', 80],
    ['10.0.0.1', 443],
    ['0:0:0:0:0:0:0:1', 443],
    ['198.18.0.1', 443],
  ])('refuses %s port %d, and tells of it', async (address, port) => {
    const { ask, facts } = makeKit(['192.0.2.0/24:443', 'example.org']);
    expect(await ask(address, port)).toMatchObject({ kind: 'refused', errno: 'EACCES' });
    expect(facts.map(({ outcome, verdict }) => [outcome, verdict.isAllowed])).toEqual([
      ['refused', false],
    ]);
  });

  it('leads to the doors, and to that of names whoever is asked for them', async () => {
    const { ask, facts } = makeKit(['example.org', '192.0.2.53:53']);
    expect(await ask('127.0.0.1', 3128)).toEqual({ kind: 'door', door: 'proxy' });
    expect(await ask('127.0.0.53', 53)).toEqual({ kind: 'door', door: 'dns' });
    expect(await ask('10.0.0.2', 53)).toEqual({ kind: 'door', door: 'dns' });
    expect(facts).toEqual([]);
    expect((await ask('192.0.2.53', 53)).kind).toBe('dial');
  });

  it('dials a real, judged address for one that stands for a name', async () => {
    const found = { 'example.org': ['2620:fe::9', '10.0.0.1', '9.9.9.9'] };
    const { ask, facts, names } = makeKit(['example.org:443'], found);
    const fake = names.addressOf('example.org') ?? '';
    expect(dialOf(await ask(fake, 443))).toBe('9.9.9.9 443 tcp:example.org:443');
    expect(facts[0]?.destination).toEqual({ protocol: 'tcp', name: 'example.org', port: 443 });
    expect((await ask(fake, 80)).kind).toBe('refused');
  });

  it('refuses a name that leads to where nobody may go, or nowhere', async () => {
    const { ask, names } = makeKit(['a.example', 'b.example'], { 'a.example': ['127.0.0.1'] });
    expect(await ask(names.addressOf('a.example') ?? '', 443)).toMatchObject({ errno: 'EACCES' });
    expect(await ask(names.addressOf('b.example') ?? '', 443)).toMatchObject({
      errno: 'EHOSTUNREACH',
      endpoint: 'tcp:b.example:443',
    });
  });

  it('sends to the proxy what has to be seen', async () => {
    const text = 'example.org';
    const origin = { source: 'policy.yaml', key: 'net.allow', text };
    const rule: NetRule = { effect: 'allow', text, origin, http: { methods: ['GET'] } };
    const { ask, facts, names } = makeKit([rule], { 'example.org': ['9.9.9.9'] });
    expect((await ask(names.addressOf(text) ?? '', 80)).kind).toBe('refused');
    expect(facts[0]?.verdict.reason).toContain('at the proxy only');
  });

  it('tells of every use of an answer that is kept, and of none that is not', async () => {
    const { ask, judge, facts, rules } = makeKit(['192.0.2.9']);
    const request = { address: '192.0.2.9', port: 443, isAgain: false };
    await ask('192.0.2.9', 443);
    await ask('192.0.2.9', 443, true);
    expect(facts).toHaveLength(1);
    judge.noteKept(request, 2);
    expect(facts).toHaveLength(3);
    let forgotten = 0;
    judge.onForget(() => forgotten++);
    rules.revoke('192.0.2.9');
    judge.noteKept({ ...request, port: 80 }, 1);
    expect([forgotten, facts.length]).toEqual([1, 3]);
    expect((await ask('192.0.2.9', 443)).kind).toBe('refused');
  });

  it('is silent about a connection that stands, and tells of one that is to be cut', async () => {
    const { judge, facts, rules } = makeKit(['192.0.2.9']);
    const review = { address: '192.0.2.9', port: 443, isAgain: false, isReview: true };
    expect((await judge.judge(review)).kind).toBe('dial');
    expect(facts).toEqual([]);
    rules.revoke('192.0.2.9');
    expect((await judge.judge(review)).kind).toBe('refused');
    expect(facts).toMatchObject([
      { outcome: 'refused', note: 'cut: no rule allows it any more', door: 'broker' },
    ]);
  });
});
