import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { decideNet } from '../../src/policy/decide-net.ts';
import { makeEffectivePolicy } from '../../src/policy/effective-policy.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { SET_NAMES } from '../../src/policy/net-sets.ts';
import { parseNetTarget, toQuery } from '../../src/policy/net-target.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { formatProblems, PolicyError } from '../../src/policy/problems.ts';
import { VARIABLES } from './variables.ts';

function load(text: string, allowNet: readonly string[] = []): Policy {
  return resolvePolicy({
    file: 'policy.yaml',
    quick: { allowNet },
    variables: VARIABLES,
    files: { read: () => text, parse: parsePolicyText, locate: (path) => `/${path}` },
  });
}

function findProblems(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof PolicyError) return formatProblems(error.problems);
    throw error;
  }
  throw new Error('there was no problem');
}

function isAllowed(policy: Policy, asked: string): boolean {
  const target = parseNetTarget(asked);
  const query = 'problem' in target ? undefined : toQuery(target);
  if (!query) throw new Error(asked);
  return decideNet(policy, query).outcome === 'allow';
}

describe('net.allow', () => {
  it('takes texts and hosts with rules side by side, each with its place', () => {
    const policy = load(`
net:
  allow:
    - example.org:8000-8010
    - 8443
    - { host: 'api.example.org:443', methods: [GET, HEAD], paths: [/v1/], tls: true }
`);
    expect(policy.net.map(({ text, http, isTlsOpened }) => ({ text, http, isTlsOpened }))).toEqual([
      { text: 'example.org:8000-8010', http: undefined, isTlsOpened: undefined },
      { text: '8443', http: undefined, isTlsOpened: undefined },
      {
        text: 'api.example.org:443',
        http: { methods: ['GET', 'HEAD'], paths: ['/v1/'] },
        isTlsOpened: true,
      },
    ]);
    expect(policy.net.map(({ origin }) => origin.source)).toEqual([
      'policy.yaml:4:7',
      'policy.yaml:5:7',
      'policy.yaml:6:15',
    ]);
    expect(isAllowed(policy, 'example.org:8010')).toBe(true);
    expect(isAllowed(policy, 'example.org:8011')).toBe(false);
  });

  it('refuses what cannot be meant, at its place', () => {
    const text = `
net:
  allow:
    - 127.1
    - 2130706433
    - { host: '*', methods: [get], paths: [api, /a/../b, /a?b] }
    - { methods: [GET] }
    - { host: a.org, until: 2030-02-30T00:00:00Z }
    - { host: a.org, until: 2030-01-31 }
    - { host: a.org, until: '2030-01-31T00:00:00Z', for: 10m }
    - { host: a.org, for: soon }
    - { host: '*', for: 10m }
    - 10.1.2.3/8
    - udp:53
    - 80-79
    - \uff45xample.org
  deny: [{ host: a.org }]
  inject:
    - { host: github, header: Host, env: A }
    - { host: a.org, header: X, env: A, command: [x] }
    - { host: a.org, header: 'X Y', env: 'A=B' }
    - { host: a.org, header: X, command: [] }
    - { host: a.org }
`;
    expect(findProblems(() => load(text))).toMatchSnapshot();
  });
});

describe('--allow-net', () => {
  it('adds to whatever policy is in use', () => {
    const policy = load('net: { deny: [b.org] }', ['a.org:443', 'b.org']);
    expect(isAllowed(policy, 'a.org:443')).toBe(true);
    expect(isAllowed(policy, 'b.org:443')).toBe(false);
    expect(policy.net.at(1)?.origin.source).toBe('--allow-net');
  });

  it('names what it cannot use', () => {
    expect(findProblems(() => load('{}', ['a.org', 'a b', '127.1']))).toMatchSnapshot();
  });
});

describe('named sets', () => {
  it('mean the set, unless a dot behind it says that it is a host', () => {
    for (const name of SET_NAMES) {
      expect(parseNetTarget(name)).toMatchObject({ kind: 'set', set: name });
      expect(parseNetTarget(`${name}:80`)).toMatchObject({ kind: 'set' });
      expect(parseNetTarget(`${name}.`)).toMatchObject({ kind: 'host', name });
      expect(parseNetTarget(`${name}.example.org`)).toMatchObject({ kind: 'host' });
    }
  });

  it('hold what they are called for', () => {
    const policy = load('net: { allow: [github, private] }');
    for (const asked of ['github.com:443', 'api.github.com:443', 'github.com:22', '10.9.8.7:1'])
      expect([asked, isAllowed(policy, asked)]).toEqual([asked, true]);
    for (const asked of ['github.com:80', 'github.io:443', 'xgithub.com:443', '8.8.8.8:53'])
      expect([asked, isAllowed(policy, asked)]).toEqual([asked, false]);
  });

  it('are cut down by a port', () => {
    const policy = load('net: { allow: ["github:22", "private:5432"] }');
    expect(isAllowed(policy, 'github.com:22')).toBe(true);
    expect(isAllowed(policy, 'github.com:443')).toBe(false);
    expect(isAllowed(policy, '10.0.0.1:5432')).toBe(true);
    expect(isAllowed(policy, '10.0.0.1:22')).toBe(false);
  });

  it('deny as well', () => {
    const policy = load('net: { allow: ["10.0.0.0/8", "*.github.com"], deny: [private, github] }');
    expect(isAllowed(policy, '10.0.0.1:80')).toBe(false);
    expect(isAllowed(policy, 'api.github.com:443')).toBe(false);
    expect(isAllowed(policy, 'api.github.com:80')).toBe(true);
  });
});

describe('makeEffectivePolicy()', () => {
  it('tells rules for requests and injected headers, and nothing of their values', () => {
    const policy = load(`
net:
  allow: [npm, { host: a.org, methods: [PUT, GET] }]
  inject:
    - { host: a.org, header: X-Key, command: [/usr/bin/secret, --token, hunter2], tls: true }
    - { host: a.org, header: Authorization, env: A_TOKEN }
`);
    const { net, inject } = makeEffectivePolicy(policy, VARIABLES);
    expect(net).toEqual([
      { effect: 'allow', methods: ['GET', 'PUT'], text: 'a.org' },
      { effect: 'allow', text: 'npm' },
    ]);
    expect(inject).toEqual([
      { command: '/usr/bin/secret', header: 'x-key', host: 'a.org', tls: true },
      { env: 'A_TOKEN', header: 'authorization', host: 'a.org', tls: false },
    ]);
    expect(JSON.stringify(inject)).not.toContain('hunter2');
  });

  it('tells the end of a rule as the policy has it', () => {
    const policy = load(`
net:
  allow:
    - { host: a.org, until: '2030-01-31T12:00:00.5+02:00' }
    - { host: b.org, for: 10m }
`);
    const { net } = makeEffectivePolicy(policy, VARIABLES);
    expect(net).toEqual([
      { effect: 'allow', text: 'b.org', for_ms: 600_000 },
      { effect: 'allow', text: 'a.org', until: '2030-01-31T10:00:00.500Z' },
    ]);
  });

  it('is the same as ever without them', () => {
    const effective = makeEffectivePolicy(load('net: { allow: [a.org] }'), VARIABLES);
    expect(Object.keys(effective)).not.toContain('inject');
    expect(effective.net).toEqual([{ effect: 'allow', text: 'a.org' }]);
  });
});
