import { describe, expect, it } from 'vitest';
import { comparePolicies } from '../../../src/evidence/claims/policy-difference.ts';
import { makeEffectivePolicy } from '../../../src/policy/effective-policy.ts';
import { resolvePolicy } from '../../../src/policy/combine.ts';

const variables = { cwd: '/w', home: '/home/a', tmpdir: '/tmp/assay-1-1', user: 'a' };
const effective = (preset: string, allowRead: readonly string[] = []): unknown =>
  makeEffectivePolicy(resolvePolicy({ preset, variables, quick: { allowRead } }), variables);

describe('comparePolicies()', () => {
  it('finds nothing between equal policies', () => {
    expect(comparePolicies(effective('coding-agent'), effective('coding-agent'))).toEqual({
      onlyInBundle: [],
      onlyInFile: [],
    });
  });

  it('names a rule that only one of them has', () => {
    expect(
      comparePolicies(effective('coding-agent', ['/srv/data']), effective('coding-agent')),
    ).toEqual({ onlyInBundle: ['fs.read: /srv/data'], onlyInFile: [] });
  });

  it('names network rules, settings and limits', () => {
    const a = { net: [{ effect: 'allow', text: '*' }], env: { mode: 'scrub', allow: ['A'] } };
    const b = { net: [], env: { mode: 'strict', allow: [] }, limits: { pids: 5 } };
    expect(comparePolicies(a, b)).toEqual({
      onlyInBundle: ['net.allow: *', 'env.mode: scrub', 'env.allow: A'],
      onlyInFile: ['env.mode: strict', 'limits.pids: 5'],
    });
  });

  it('takes anything', () => {
    expect(comparePolicies(null, [{ x: 1 }])).toEqual({
      onlyInBundle: [': null'],
      onlyInFile: [': {"x":1}'],
    });
  });
});
