import { describe, expect, it } from 'vitest';
import { guessFacts } from '../../src/host/guess-facts.ts';
import { ALL_LAYERS, chooseLayers } from '../../src/plan/layers.ts';
import { planNamedNet } from '../../src/plan/named-net.ts';
import { choosePlanNet, type NetPlan, planPlainNet } from '../../src/plan/net-plan.ts';
import { type Layer, LAYERS } from '../../src/plan/plan.ts';
import { isOwnLoopback } from '../../src/policy/net-rules.ts';
import { isCatchAll, parseNetTarget } from '../../src/policy/net-target.ts';
import { isPlainNet } from '../../src/policy/plain-net.ts';
import type { NetRule, Policy } from '../../src/policy/policy.ts';

const TEXTS = [
  '127.0.0.1',
  'localhost',
  '::1',
  '127.0.0.0/8',
  '[::1]',
  '0.0.0.0/0',
  '::/0',
  '*',
  'localhost:80',
  'example.org',
  '10.0.0.0/8',
  'loopback',
  'LOCALHOST',
  '',
  'no host',
];

function toRule(effect: NetRule['effect'], text: string): NetRule {
  return { effect, text, origin: { source: 'test', key: `net.${effect}`, text } };
}

function planBoth(net: readonly NetRule[], without: readonly Layer[]): Record<string, NetPlan> {
  const host = guessFacts();
  const left = new Set(LAYERS.filter((layer) => !without.includes(layer)));
  const active = chooseLayers(host, { ...ALL_LAYERS, left });
  const policy = { net, env: { set: {} } } as unknown as Policy;
  const tree = {
    realpath: (path: string) => path,
    kind: () => 'directory' as const,
    isDirectory: () => true,
    topPaths: [],
  };
  const input = { policy, active, tree, host, trustedPem: undefined, tmpdir: '/tmp/x' };
  return { plain: planPlainNet(input), named: planNamedNet(input) };
}

describe('isPlainNet()', () => {
  it.each(TEXTS)('takes an allow of %j only where the grammar says loopback inside', (text) => {
    const target = parseNetTarget(text);
    const isOwn = !('problem' in target) && isOwnLoopback(target);
    if (isPlainNet([toRule('allow', text)])) expect(isOwn).toBe(true);
  });

  it.each(TEXTS)('takes a deny of %j only where the grammar says everything', (text) => {
    const target = parseNetTarget(text);
    const isAll = !('problem' in target) && isCatchAll(target);
    if (isPlainNet([toRule('deny', text)])) expect(isAll).toBe(true);
  });

  it('takes what the presets say, and nothing that names a place', () => {
    const rules = [toRule('allow', 'localhost'), toRule('deny', '0.0.0.0/0')];
    expect(isPlainNet(rules)).toBe(true);
    expect(isPlainNet([...rules, toRule('allow', 'example.org')])).toBe(false);
    expect(isPlainNet([...rules, toRule('deny', '10.0.0.0/8')])).toBe(false);
    expect(isPlainNet([toRule('allow', '*')])).toBe(false);
  });
});

describe('choosePlanNet()', () => {
  const plain = TEXTS.flatMap((text) => [toRule('allow', text), toRule('deny', text)]).filter(
    (rule) => isPlainNet([rule]),
  );

  it('takes the short way for plain rules alone', async () => {
    expect(await choosePlanNet(plain)).toBe(planPlainNet);
    expect(await choosePlanNet([...plain, toRule('allow', '10.0.0.0/8')])).toBe(planNamedNet);
  });

  it.each([
    [[]],
    [['net']],
    [['net', 'broker']],
    [['net', 'landlock']],
    [['user', 'mount', 'pid', 'ipc', 'net']],
    [['seccomp', 'broker', 'nft']],
  ] as const)('plans the same on both ways without %j', (without) => {
    for (const net of [[], plain, ...plain.map((rule) => [rule])]) {
      const { plain: short, named: long } = planBoth(net, without);
      const env = [['A', 'b']] as const;
      expect(short?.addVariables(env)).toEqual(long?.addVariables(env));
      expect({ ...short, addVariables: undefined }).toEqual({ ...long, addVariables: undefined });
    }
  });
});
