import { afterEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../src/egress/egress.ts';
import { type LiveRules, makeEgressRules, type RuleClock } from '../../src/egress/rules.ts';
import type { HttpRules, InjectRule, NetRule } from '../../src/policy/policy.ts';

const open: LiveRules[] = [];
afterEach(() => open.splice(0).forEach((rules) => rules.close()));

function rule(effect: NetRule['effect'], text: string, more: Partial<NetRule> = {}): NetRule {
  const origin = { source: 'policy.yaml:3:5', key: `net.${effect}`, text };
  return { effect, text, origin, ...more };
}

/** A clock that stands until it is told to go on. */
function makeClock(): RuleClock & { go(ms: number): void } {
  let now = 0;
  const due = new Map<object, { at: number; call: () => void }>();
  return {
    now: () => now,
    after(delayMs, call) {
      const key = {};
      due.set(key, { at: now + delayMs, call });
      return () => void due.delete(key);
    },
    go(ms) {
      now += ms;
      for (const [key, { at, call }] of due)
        if (at <= now) {
          due.delete(key);
          call();
        }
    },
  };
}

function makeRules(
  net: readonly NetRule[],
  { inject = [], clock = makeClock() }: { inject?: InjectRule[]; clock?: RuleClock } = {},
): LiveRules {
  const rules = makeEgressRules({ policy: { net, inject }, clock });
  open.push(rules);
  return rules;
}

const allow = (...texts: string[]): LiveRules =>
  makeRules(texts.map((text) => rule('allow', text)));
const toName = (name: string, port = 443): Destination => ({ protocol: 'tcp', name, port });
const toAddress = (address: string, port = 443): Destination => ({
  protocol: 'tcp',
  address,
  port,
});

describe('decide()', () => {
  it('allows what a rule names, and says which', () => {
    expect(allow('*.example.org:443').decide(toName('a.example.org'))).toEqual({
      isAllowed: true,
      rule: 'policy.yaml:3:5 net.allow: *.example.org:443',
    });
  });

  it('refuses the rest with the flag that would allow it', () => {
    const rules = allow('example.org:443');
    expect(rules.decide(toName('example.org', 80))).toEqual({
      isAllowed: false,
      rule: null,
      reason: 'no rule allows example.org',
      hint: '--allow-net example.org:80',
    });
    expect(rules.decide(toAddress('2606:4700::1', 80)).hint).toBe('--allow-net [2606:4700::1]:80');
  });

  it('lets a deny win and offers no flag against it', () => {
    const rules = makeRules([rule('allow', '*.example.org'), rule('deny', 'b.example.org')]);
    expect(rules.decide(toName('b.example.org'))).toEqual({
      isAllowed: false,
      rule: 'policy.yaml:3:5 net.deny: b.example.org',
      reason: 'b.example.org is denied',
    });
  });

  it('carries no UDP', () => {
    const asked: Destination = { protocol: 'udp', name: 'example.org', port: 443 };
    expect(allow('example.org').decide(asked).isAllowed).toBe(false);
  });

  it.each(['EXAMPLE.org', 'example.org.'])('takes %s for what it is', (name) =>
    expect(allow('example.org').decide(toName(name)).isAllowed).toBe(true),
  );

  it.each(['', 'a@example.org', 'example.org\0', '127.1', '0x7f.1', 'ex\u00e4mple.org', '::1'])(
    'refuses the odd name %j, whatever is allowed',
    (name) => expect(allow('*').decide(toName(name)).isAllowed).toBe(false),
  );

  it('wants exactly one of name and address', () => {
    const both = { protocol: 'tcp', name: 'example.org', address: '1.1.1.1', port: 1 } as const;
    expect(allow('*').decide(both).isAllowed).toBe(false);
    expect(allow('*').decide({ protocol: 'tcp', port: 1 }).isAllowed).toBe(false);
  });

  it('opens no door by a rule for the loopback inside', () => {
    const rules = allow('127.0.0.1', 'localhost', '::1', '127.0.0.0/8');
    expect(rules.decide(toName('localhost')).isAllowed).toBe(false);
    expect(rules.decide(toAddress('127.0.0.1', 80))).toMatchObject({
      isAllowed: false,
      hint: '--allow-net 127.0.0.1:80',
    });
  });

  it('opens a port of the loopback of the host where a rule names it', () => {
    const rules = allow('localhost:5432');
    expect(rules.decide(toAddress('127.0.0.1', 5432)).isAllowed).toBe(true);
    expect(rules.decide(toAddress('::1', 5432)).isAllowed).toBe(true);
    expect(rules.decide(toAddress('127.0.0.1', 5433)).isAllowed).toBe(false);
    expect(rules.decideAddress(toName('localhost', 5432), '127.0.0.1').isAllowed).toBe(true);
  });
});

describe('decideAddress()', () => {
  it('lets an allowed name lead to the internet only', () => {
    const rules = allow('example.org');
    expect(rules.decideAddress(toName('example.org'), '93.184.216.34').isAllowed).toBe(true);
    expect(rules.decideAddress(toName('example.org', 80), '10.1.2.3')).toEqual({
      isAllowed: false,
      rule: null,
      reason: '10.1.2.3 is a private address',
      hint: '--allow-net 10.1.2.3:80',
    });
    expect(rules.decideAddress(toName('example.org'), '64:ff9b::a01:203').reason).toBe(
      '64:ff9b::a01:203 leads to 10.1.2.3, which is a private address',
    );
  });

  it('lets it lead to a private address that a rule names as well', () => {
    for (const entry of ['10.1.2.3', '10.0.0.0/8', 'private', '10.1.0.0/16:443'])
      expect(
        allow('example.org', entry).decideAddress(toName('example.org'), '10.1.2.3').isAllowed,
      ).toBe(true);
    for (const entry of ['10.1.2.4', '0.0.0.0/1:443', '*:443', '10.1.2.3:80', 'loopback'])
      expect(
        allow('example.org', entry).decideAddress(toName('example.org'), '10.1.2.3').isAllowed,
      ).toBe(false);
  });

  it('takes DNS64 for the address that it stands for', () => {
    const rules = allow('example.org');
    expect(rules.decideAddress(toName('example.org'), '64:ff9b::808:808').isAllowed).toBe(true);
  });

  it('does not ask about an address of a name that is not allowed', () => {
    expect(allow('a.org').decideAddress(toName('b.org'), '8.8.8.8').isAllowed).toBe(false);
  });

  it('denies by the address that a name leads to', () => {
    const rules = makeRules([rule('allow', 'example.org'), rule('deny', '8.8.8.0/24')]);
    for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'])
      expect(rules.decideAddress(toName('example.org'), address).isAllowed).toBe(false);
  });
});

describe('decideName()', () => {
  it('allows a name that has any port open', () => {
    const rules = makeRules([rule('allow', 'a.org:22'), rule('deny', 'a.org:80')]);
    expect(rules.decideName('a.org').isAllowed).toBe(true);
    expect(rules.decideName('b.org')).toMatchObject({
      isAllowed: false,
      hint: '--allow-net b.org',
    });
  });

  it('refuses one that is denied as a whole', () => {
    const rules = makeRules([rule('allow', '*:443'), rule('deny', '*.bad.org')]);
    expect(rules.decideName('x.bad.org').isAllowed).toBe(false);
    expect(rules.decideName('x.good.org').isAllowed).toBe(true);
  });

  it('refuses addresses', () => {
    expect(allow('*:53').decideName('8.8.8.8').isAllowed).toBe(false);
  });
});

describe('decideRequest()', () => {
  const http = (text: string, rules: HttpRules): NetRule => rule('allow', text, { http: rules });
  const ask = (rules: LiveRules, method: string, path: string): boolean =>
    rules.decideRequest(toName('api.example.org'), { method, path }).isAllowed;

  it('allows the methods and paths of the entry', () => {
    const rules = makeRules([
      http('api.example.org', { methods: ['GET'], paths: ['/v1/', '/me'] }),
    ]);
    expect(rules.isInspected(toName('api.example.org'))).toBe(true);
    for (const path of ['/v1/', '/v1/x', '/v1', '/me', '/me/x', '/v1/x?y=/../..'])
      expect([path, ask(rules, 'GET', path)]).toEqual([path, true]);
    for (const path of ['/', '/v1x', '/mex', '/v2/', '*', 'v1/', ''])
      expect([path, ask(rules, 'GET', path)]).toEqual([path, false]);
    expect(ask(rules, 'POST', '/v1/x')).toBe(false);
    expect(ask(rules, 'get', '/v1/x')).toBe(false);
  });

  it('refuses what asks to be taken for another request, where requests are judged', () => {
    const posing = { method: 'GET', path: '/', override: 'X-Original-URL' };
    const rules = makeRules([
      http('api.example.org', { methods: ['GET'] }),
      rule('allow', 'b.org'),
    ]);
    expect(rules.decideRequest(toName('api.example.org'), posing)).toMatchObject({
      isAllowed: false,
      reason: 'X-Original-URL asks for another request than the one that is seen',
    });
    expect(rules.decideRequest(toName('b.org'), posing).isAllowed).toBe(true);
  });

  it.each([
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1/.%2E/admin',
    '/v1/..;/admin',
    '/v1/..%3bx/admin',
    '/v1/..%2fadmin',
    '/v1/%252e%252e/admin',
    '/v1/..\\admin',
    '/v1/%5c..',
    '/v1//admin',
    '/v1/%00',
    '/v1/%zz',
    '/v1/./x',
    '/v1/a b',
    '/v1/#x',
    '/v1/\u00e4',
  ])('refuses %j, which a server may read otherwise', (path) =>
    expect(ask(makeRules([http('api.example.org', { paths: ['/v1/'] })]), 'GET', path)).toBe(false),
  );

  it('listens to the entry that names the host most closely', () => {
    const narrow = [rule('allow', '*.example.org'), http('api.example.org', { methods: ['GET'] })];
    expect(ask(makeRules(narrow), 'POST', '/')).toBe(false);
    const wide = [rule('allow', 'api.example.org'), http('*.example.org', { methods: ['GET'] })];
    expect(ask(makeRules(wide), 'POST', '/')).toBe(true);
    expect(makeRules(wide).isInspected(toName('api.example.org'))).toBe(false);
    const twice = [
      http('api.example.org', { methods: ['GET'] }),
      http('api.example.org', { methods: ['PUT'] }),
    ];
    expect(['GET', 'PUT', 'POST'].map((method) => ask(makeRules(twice), method, '/'))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('findInjections()', () => {
  const inject = (text: string): InjectRule => ({
    text,
    header: 'Authorization',
    from: { env: 'TOKEN' },
    isTlsOpened: true,
    origin: { source: 'policy.yaml', key: 'net.inject', text },
  });

  it('finds them for allowed hosts only', () => {
    const rules = makeRules([rule('allow', 'a.org')], {
      inject: [inject('a.org'), inject('b.org')],
    });
    expect(rules.findInjections(toName('a.org')).map(({ text }) => text)).toEqual(['a.org']);
    expect(rules.findInjections(toName('b.org'))).toEqual([]);
    expect(rules.isInspected(toName('a.org'))).toBe(true);
    expect(rules.isTlsOpened(toName('a.org'))).toBe(true);
    expect(rules.isTlsOpened(toName('b.org'))).toBe(false);
  });
});

describe('expiry and revocation', () => {
  it('tells when a rule ends, and ends it by the clock', () => {
    const clock = makeClock();
    const rules = makeRules(
      [rule('allow', 'a.org', { expiresAtMs: 1000 }), rule('allow', 'b.org')],
      {
        clock,
      },
    );
    const heard: boolean[] = [];
    rules.onChange(() => heard.push(rules.decide(toName('a.org')).isAllowed));
    clock.go(999);
    expect(rules.decide(toName('a.org')).isAllowed).toBe(true);
    clock.go(1);
    expect(heard).toEqual([false]);
    expect(rules.decide(toName('b.org')).isAllowed).toBe(true);
  });

  it('needs no timer to be over', () => {
    let now = 0;
    const clock = { now: () => now, after: () => () => undefined };
    const rules = makeRules([rule('allow', 'a.org', { expiresAtMs: 10 })], { clock });
    now = 10;
    expect(rules.decide(toName('a.org')).isAllowed).toBe(false);
  });

  it('names the rule that has ended, by the words of the policy', () => {
    const clock = makeClock();
    const rules = makeRules(
      [
        rule('allow', 'a.org:443', { lastsMs: 1500 }),
        rule('allow', 'b.org', { expiresAtMs: 1000 }),
      ],
      { clock },
    );
    clock.go(1499);
    expect(rules.decide(toName('a.org')).isAllowed).toBe(true);
    clock.go(1);
    expect(rules.decide(toName('a.org'))).toEqual({
      isAllowed: false,
      isExpired: true,
      rule: expect.stringMatching(/a\.org:443 \(ended 1\.5 s after the start\)$/),
      reason: 'the rule for it has ended',
      hint: '--allow-net a.org:443',
    });
    expect(rules.decide(toName('b.org')).rule).toMatch(/\(ended at 1970-01-01T00:00:01Z\)$/);
    expect(rules.decide(toName('c.org')).isExpired).toBeUndefined();
  });

  it('takes a rule back, and never a deny', () => {
    const rules = makeRules([
      rule('allow', 'a.org'),
      rule('allow', '*.org'),
      rule('deny', 'c.org'),
    ]);
    let calls = 0;
    rules.onChange(() => calls++);
    expect(rules.revoke('c.org')).toBe(false);
    expect(rules.revoke('*.org')).toBe(true);
    expect(rules.revoke('*.org')).toBe(false);
    expect(calls).toBe(1);
    expect(rules.decide(toName('b.org')).isAllowed).toBe(false);
    expect(rules.decide(toName('a.org')).isAllowed).toBe(true);
  });

  it('adds one', () => {
    const clock = makeClock();
    const rules = makeRules([], { clock });
    rules.add([rule('allow', 'a.org', { expiresAtMs: 5 })]);
    expect(rules.decide(toName('a.org')).isAllowed).toBe(true);
    clock.go(5);
    expect(rules.decide(toName('a.org')).isAllowed).toBe(false);
  });
});
