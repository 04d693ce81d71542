import { describe, expect, it } from 'vitest';
import { judgeAddresses, makeResolver, type Resolver } from '../../src/egress/resolver.ts';
import { makeEgressRules } from '../../src/egress/rules.ts';
import type { NetRule } from '../../src/policy/policy.ts';

const toRule = (text: string): NetRule => ({
  effect: 'allow',
  text,
  origin: { source: 'policy.yaml:1:1', key: 'net.allow', text },
});
const clock = { now: () => 0, after: () => () => undefined };
const makeRules = (...allow: string[]): ReturnType<typeof makeEgressRules> =>
  makeEgressRules({ policy: { net: allow.map(toRule), inject: [] }, clock });

interface World {
  readonly resolver: Resolver;
  readonly asked: string[];
  readonly rules: ReturnType<typeof makeEgressRules>;
  nowMs: number;
  answer: (name: string) => Promise<readonly string[]>;
}

function makeWorld(...allow: string[]): World {
  const asked: string[] = [];
  const rules = makeRules(...allow);
  const outside = {
    lookup: async (name: string) => {
      asked.push(name);
      return await world.answer(name);
    },
    close: () => undefined,
  };
  const world: World = {
    rules,
    asked,
    nowMs: 0,
    answer: async () => ['203.0.113.1', '2001:DB8::1'],
    resolver: makeResolver({
      rules,
      outside,
      now: () => world.nowMs,
      limits: { names: 6, namesOfRule: 4, atOnceOfRule: 2 },
    }),
  };
  return world;
}

const failWith = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(code), { code });
};

describe('makeResolver()', () => {
  it('asks once, for all who want to know at the same time or later', async () => {
    const { resolver, asked } = makeWorld('a.example');
    const found = { kind: 'found', addresses: ['203.0.113.1', '2001:db8::1'] };
    const both = await Promise.all([resolver.lookup('a.example'), resolver.lookup('a.example')]);
    expect([...both, await resolver.lookup('a.example')]).toEqual([found, found, found]);
    expect(asked).toEqual(['a.example']);
  });

  it('asks for nothing that is not allowed, or is not any more', async () => {
    const { resolver, asked, rules } = makeWorld('a.example');
    expect(await resolver.lookup('b.example')).toMatchObject({
      kind: 'refused',
      verdict: { reason: 'no rule allows b.example' },
    });
    await resolver.lookup('a.example');
    rules.revoke('a.example');
    expect(await resolver.lookup('a.example')).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual(['a.example']);
  });

  it('asks again for a name that was missing, after a while', async () => {
    const world = makeWorld('a.example');
    world.answer = failWith('ENOTFOUND');
    expect(await world.resolver.lookup('a.example')).toEqual({ kind: 'missing' });
    world.answer = async () => ['203.0.113.2'];
    world.nowMs = 9999;
    expect(await world.resolver.lookup('a.example')).toEqual({ kind: 'missing' });
    world.nowMs = 10_000;
    expect(await world.resolver.lookup('a.example')).toMatchObject({ kind: 'found' });
  });

  it('asks again sooner when nobody answered, and when nobody was there', async () => {
    const world = makeWorld('a.example');
    world.answer = failWith('ETIMEOUT');
    const failed = { kind: 'failed', code: 'ETIMEOUT' };
    expect(await world.resolver.lookup('a.example')).toEqual(failed);
    world.nowMs = 1000;
    world.answer = async () => ['203.0.113.2'];
    expect(await world.resolver.lookup('a.example')).toMatchObject({ addresses: ['203.0.113.2'] });
    world.answer = async () => ['203.0.113.3'];
    world.resolver.doubt('a.example');
    expect(await world.resolver.lookup('a.example')).toMatchObject({ addresses: ['203.0.113.2'] });
    world.nowMs = 6000;
    expect(await world.resolver.lookup('a.example')).toMatchObject({ addresses: ['203.0.113.3'] });
  });

  it('does not take a name server that nobody serves for the host', async () => {
    const world = makeWorld('a.example');
    world.answer = failWith('ECONNREFUSED');
    const failed = { kind: 'failed', code: 'ESERVFAIL' };
    expect(await world.resolver.lookup('a.example')).toEqual(failed);
  });

  it('keeps canonical addresses only, and not without end', async () => {
    const world = makeWorld('a.example', 'b.example');
    world.answer = async () => ['::ffff:203.0.113.1', '203.0.113.1', 'fe80::1%eth0', '127.1', 'x'];
    expect(await world.resolver.lookup('a.example')).toEqual({
      kind: 'found',
      addresses: ['203.0.113.1'],
    });
    world.answer = async () => Array.from({ length: 200 }, (_, at) => `203.0.113.${at}`);
    const many = await world.resolver.lookup('b.example');
    expect(many.kind === 'found' && many.addresses.length).toBe(16);
  });

  it('counts names by rule and in all, and remembers those it has let in', async () => {
    const { resolver, asked } = makeWorld('*.a.example', '*.b.example');
    for (let at = 0; at < 4; at++) await resolver.lookup(`n${at}.a.example`);
    expect(await resolver.lookup('n4.a.example')).toMatchObject({
      kind: 'refused',
      verdict: { reason: 'looks like a tunnel: more than 4 names by one rule' },
    });
    expect(await resolver.lookup('n1.a.example')).toMatchObject({ kind: 'found' });
    await resolver.lookup('n1.b.example');
    await resolver.lookup('n2.b.example');
    expect(await resolver.lookup('n3.b.example')).toMatchObject({
      verdict: { reason: 'it is one name more than the 6 of a run' },
    });
    expect(asked.length).toBe(6);
  });

  it('does not let slow names of one rule keep others waiting', async () => {
    const world = makeWorld('*.a.example', '*.b.example');
    let release: (addresses: readonly string[]) => void = () => undefined;
    const held = new Promise<readonly string[]>((resolve) => (release = resolve));
    world.answer = async () => await held;
    const slow = [world.resolver.lookup('n0.a.example'), world.resolver.lookup('n1.a.example')];
    const busy = { kind: 'failed', code: 'EBUSY' };
    expect(await world.resolver.lookup('n2.a.example')).toEqual(busy);
    world.answer = async () => ['203.0.113.5'];
    expect(await world.resolver.lookup('n0.b.example')).toMatchObject({ kind: 'found' });
    release(['203.0.113.6']);
    await Promise.all(slow);
    expect(await world.resolver.lookup('n2.a.example')).toMatchObject({ kind: 'found' });
  });

  it('asks for nothing once it is closed', async () => {
    const { resolver, asked } = makeWorld('a.example');
    resolver.close();
    expect(await resolver.lookup('a.example')).toEqual({ kind: 'failed', code: 'ECANCELLED' });
    expect(asked).toEqual([]);
  });
});

describe('judgeAddresses()', () => {
  const destination = { protocol: 'tcp', name: 'a.example', port: 443 } as const;

  it('leaves out addresses that lead inwards', () => {
    const addresses = ['127.0.0.1', '203.0.114.7', '10.0.0.1'];
    expect(judgeAddresses(makeRules('a.example'), destination, addresses)).toEqual({
      allowed: ['203.0.114.7'],
    });
  });

  it('says why when nothing is left', () => {
    const judged = judgeAddresses(makeRules('a.example'), destination, ['10.0.0.1', '::1']);
    expect(judged).toMatchObject({
      allowed: [],
      refusal: { reason: '10.0.0.1 is a private address', hint: '--allow-net 10.0.0.1:443' },
    });
  });
});
