import { describe, expect, it } from 'vitest';
import type { Availability, HostFacts } from '../../src/host/facts.ts';
import { correctFacts } from '../../src/launch/correct-facts.ts';
import {
  addProxyVariables,
  makeResolverRules,
  planDoors,
  planResolver,
} from '../../src/plan/doors.ts';
import type { FileTree } from '../../src/plan/file-tree.ts';
import { ALL_LAYERS, chooseLayers, type LayerChoice } from '../../src/plan/layers.ts';
import { planNetwork } from '../../src/plan/network.ts';
import { type Layer, LAYERS } from '../../src/plan/plan.ts';
import type { Policy } from '../../src/policy/policy.ts';

const YES: Availability = { isAvailable: true };
const NO_IPV6: Availability = { isAvailable: false, reason: 'ipv6 routes: EACCES' };

const HOST: HostFacts = {
  arch: 'x64',
  kernel: '6.18.0',
  uid: 1000,
  gid: 1000,
  landlockAbi: 7,
  seccomp: YES,
  notify: YES,
  descriptors: YES,
  namespaces: { user: YES, mount: YES, pid: YES, ipc: YES, net: YES },
  nft: YES,
  ipv6: YES,
  canBeLazy: true,
  hasPidMax: true,
  cgroup: { version: 0 },
};

function makeTree(resolver: string | null): FileTree {
  return {
    realpath: (path) => (path === '/etc/resolv.conf' ? resolver : path),
    kind: () => 'directory',
    isDirectory: () => true,
    topPaths: [],
  };
}

function plan(
  allow: readonly string[],
  {
    host = HOST,
    without = [] as readonly Layer[],
    resolver = '/etc/resolv.conf' as string | null,
  } = {},
): ReturnType<typeof planDoors> {
  const net = allow.map((text) => ({
    effect: 'allow' as const,
    text,
    origin: { source: 'test', key: 'net.allow', text },
  }));
  const policy = { net } as unknown as Policy;
  const left = new Set(LAYERS.filter((layer) => !without.includes(layer)));
  const choice: LayerChoice = { ...ALL_LAYERS, left };
  const active = chooseLayers(host, choice);
  const network = planNetwork(policy, active);
  return planDoors(policy, {
    active,
    network,
    tree: makeTree(resolver),
    ipv6: host.ipv6,
    canBeLazy: host.canBeLazy,
  });
}

describe('planDoors()', () => {
  it.each([
    [[]],
    [['127.0.0.1', 'localhost', '::1', '127.0.0.0/8']],
    [['*']],
    [['*', 'example.org']],
  ])('opens none for %j', (allow) => expect(plan(allow)).toBeNull());

  it('has the broker connect without a network namespace', () => {
    expect(plan(['10.1.0.0/16:5432', '192.0.2.9'], { without: ['net'] })).toEqual({
      isTransparent: false,
      isLazy: false,
      ranges: [],
      hostPorts: [],
      status: 'enforced',
      reason: '',
    });
    const byName = plan(['10.1.0.0/16', 'example.org'], { without: ['user'] });
    expect(byName?.status).toBe('partial');
    expect(byName?.reason).toContain('over UDP');
  });

  it.each([
    { title: 'the broker', without: ['net', 'broker'] as const, host: HOST },
    { title: 'Landlock', without: ['net', 'landlock'] as const, host: HOST },
    { title: 'TCP in Landlock', without: ['net'] as const, host: { ...HOST, landlockAbi: 3 } },
  ])('opens none without a network namespace and $title', ({ without, host }) => {
    expect(plan(['example.org', '192.0.2.9'], { without, host })).toBeNull();
  });

  it('leads ports of loopback that are named to the host, but for those of the doors', () => {
    const hostPorts = (...net: string[]) =>
      plan(net)?.hostPorts.map(({ range, from, to }) => `${range} ${from}-${to}`);
    expect(hostPorts('127.0.0.1:8080')).toEqual(['127.0.0.1/32 8080-8080']);
    expect(hostPorts('localhost:5432')).toEqual(['127.0.0.1/32 5432-5432', '::1/128 5432-5432']);
    expect(hostPorts('loopback:53-3130')).toEqual([
      '127.0.0.0/8 54-3127',
      '127.0.0.0/8 3130-3130',
      '::1/128 53-3127',
      '::1/128 3130-3130',
    ]);
    expect(hostPorts('127.0.0.1:3128', 'example.org')).toEqual([]);
    expect(hostPorts('loopback', 'example.org')).toEqual([]);
    expect(hostPorts('127.0.0.0/12:80', 'example.org')).toEqual([]);
    expect(plan(['localhost:80'], { host: { ...HOST, ipv6: NO_IPV6 } })?.hostPorts).toHaveLength(1);
  });

  it('gives names the one range that stands for names', () => {
    expect(plan(['example.org', '*.example.net:443'])).toEqual({
      isTransparent: true,
      isLazy: false,
      ranges: ['198.18.0.0/15'],
      hostPorts: [],
      status: 'enforced',
      reason: '',
    });
  });

  it('gives addresses their ranges', () => {
    const doors = plan(['10.1.0.0/16:5432', '192.0.2.9', '2001:db8:0:7::/64', 'example.org']);
    expect(doors?.ranges.toSorted()).toEqual([
      '10.1.0.0/16',
      '192.0.2.9/32',
      '198.18.0.0/15',
      '2001:db8:0:7:0:0:0:0/64',
    ]);
  });

  it('gives a port of every host every address', () => {
    expect(plan(['*:443'])?.ranges).toEqual(['198.18.0.0/15', '0.0.0.0/0', '0:0:0:0:0:0:0:0/0']);
  });

  it('never leads loopback away', () => {
    expect(plan(['127.0.0.1:5432', '[::1]:80'])?.ranges).toEqual(['198.18.0.0/15']);
  });

  it.each([
    {
      title: 'nf_tables and the broker',
      options: { without: ['nft' as const, 'broker' as const] },
      reason: 'proxy variables',
    },
    { title: 'a mount namespace', options: { without: ['mount' as const] }, reason: 'mount' },
    { title: 'a resolv.conf', options: { resolver: null }, reason: '/etc/resolv.conf' },
  ])('is partial without $title', ({ options, reason }) => {
    const doors = plan(['example.org'], options);
    expect(doors).toMatchObject({ status: 'partial' });
    expect(doors?.reason).toContain(reason);
  });

  it('leaves IPv6 to the proxy where the host has none', () => {
    const doors = plan(['2001:db8::/32', '10.0.0.0/8'], { host: { ...HOST, ipv6: NO_IPV6 } });
    expect(doors).toMatchObject({ status: 'partial', ranges: ['198.18.0.0/15', '10.0.0.0/8'] });
    expect(doors?.reason).toContain('ipv6 routes: EACCES');
  });
});

describe('planResolver()', () => {
  it('puts the file where its name leads', () => {
    expect(planResolver(makeTree('/run/odd/file'))).toContainEqual({
      kind: 'file',
      path: '/run/odd/file',
      text: 'nameserver 127.0.0.53\n',
    });
    expect(makeResolverRules(makeTree('/run/odd/file')).map(({ pattern }) => pattern)).toEqual([
      '/run/odd/file',
    ]);
  });

  it('does nothing where there is none', () => {
    expect(planResolver(makeTree(null))).toEqual([]);
    expect(makeResolverRules(makeTree(null))).toEqual([]);
  });
});

describe('addProxyVariables()', () => {
  it('replaces those of the caller, and keeps those of the policy', () => {
    const env = [
      ['HTTP_PROXY', 'http://proxy.example:8080'],
      ['no_proxy', '*'],
      ['PATH', '/bin'],
    ] as const;
    const added = new Map(addProxyVariables(env, { no_proxy: '*' }));
    expect(added.get('HTTP_PROXY')).toBe('http://127.0.0.1:3128');
    expect(added.get('no_proxy')).toBe('*');
    expect(added.get('PATH')).toBe('/bin');
    expect(added.size).toBe(9);
  });
});

describe('correctFacts(), when the doors could not be opened', () => {
  const report = (what: string): Parameters<typeof correctFacts>[1] => ({
    failed: { step: 'doors', what, errno: 2 },
    refusals: [],
    refusalCount: 0,
    absent: [],
    gitDirs: [],
    gitFileDirs: [],
    damagedLines: 0,
    hasRecord: false,
    isRecordWhole: false,
  });

  it('finds nf_tables or IPv6 missing, and then nothing more to leave out', async () => {
    expect((await correctFacts(HOST, report('nft')))?.nft).toEqual({
      isAvailable: false,
      reason: 'nft: ENOENT (2)',
    });
    expect(await correctFacts(HOST, report('ipv6 routes'))).toMatchObject({
      nft: YES,
      ipv6: { isAvailable: false },
    });
    expect(await correctFacts({ ...HOST, nft: NO_IPV6 }, report('proxy'))).toBeNull();
  });
});
