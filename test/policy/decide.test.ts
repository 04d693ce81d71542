import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, liftedBy } from '../../src/policy/decide.ts';
import { matchPattern } from '../../src/policy/glob.ts';
import type { FsRight, FsRule } from '../../src/policy/policy.ts';

const ALL: FsRight[] = ['read', 'write', 'exec'];

function rule(effect: FsRule['effect'], pattern: string, rights: FsRight[] = ALL): FsRule {
  return {
    effect,
    rights,
    pattern,
    origin: { source: 'test', key: `fs.${effect}`, text: pattern },
  };
}

const pattern = fc
  .array(fc.constantFrom('a', 'b', '*', '**', '[ab]', 'a*'), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const rights = fc.subarray(ALL, { minLength: 1 });
const rules = fc.array(
  fc
    .tuple(fc.constantFrom('allow', 'deny', 'protect', 'config'), pattern, rights)
    .map(([effect, text, granted]) =>
      rule(
        effect as FsRule['effect'],
        text,
        effect === 'protect' || effect === 'config' ? ['write'] : granted,
      ),
    ),
  { maxLength: 8 },
);

describe('decide()', () => {
  it('lets a deny beat every allow, in any order', () => {
    fc.assert(
      fc.property(rules, path, fc.constantFrom(...ALL), (fs, place, op) => {
        const { outcome, rule: decider } = decide({ fs }, { op, path: place });
        const applies = fs.filter(
          (one) => one.rights.includes(op) && matchPattern(one.pattern, place),
        );
        const refuses = applies.some(({ effect }) => effect === 'deny' || effect === 'protect');
        if (refuses) expect(outcome).toBe('deny');
        if (outcome === 'allow') expect(decider?.effect).toBe('allow');
        if (!applies.some(({ effect }) => effect === 'allow')) expect(outcome).toBe('deny');
        expect(decide({ fs: fs.toReversed() }, { op, path: place }).outcome).toBe(outcome);
      }),
      { numRuns: 3000 },
    );
  });

  it('names the strongest rule: deny, then protect, then config', () => {
    const fs = [
      rule('allow', '/w'),
      rule('config', '/**/x', ['write']),
      rule('protect', '/w/x', ['write']),
    ];
    expect(decide({ fs }, { op: 'write', path: '/w/x' }).rule).toBe(fs[2]);
    const deny = rule('deny', '/w');
    expect(decide({ fs: [...fs, deny] }, { op: 'write', path: '/w/x' }).rule).toBe(deny);
    expect(decide({ fs }, { op: 'write', path: '/w/sub/x' }).rule).toBe(fs[1]);
    expect(decide({ fs }, { op: 'read', path: '/w/sub/x' })).toEqual({
      outcome: 'allow',
      rule: fs[0],
    });
  });

  it('refuses what no rule allows', () => {
    expect(decide({ fs: [rule('allow', '/w', ['read'])] }, { op: 'write', path: '/w' })).toEqual({
      outcome: 'deny',
    });
  });

  it('protects no configuration inside the private tmp', () => {
    const fs = [rule('allow', '/tmp'), rule('config', '/**/.npmrc', ['write'])];
    const outcome = (place: string) =>
      decide({ fs }, { op: 'write', path: place, tmpdir: '/tmp/mine' }).outcome;
    expect(outcome('/tmp/mine/.npmrc')).toBe('allow');
    expect(outcome('/tmp/mine2/.npmrc')).toBe('deny');
    expect(decide({ fs }, { op: 'write', path: '/tmp/mine/.npmrc' }).outcome).toBe('deny');
  });
});

describe('liftedBy()', () => {
  const config = rule('config', '/**/.github/workflows', ['write']);

  it.each([
    ['/w/.github/workflows', true],
    ['/w/.github/workflows/ci.yml', true],
    ['/w/.github/workflows/*.yml', true],
    ['/w/**/.github/workflows', true],
    ['/w', false],
    ['/w/.github', false],
    ['/w/**', false],
    ['/w/*/workflows', false],
    ['/w/.github/*', false],
  ])('write access to %s: %s', (text, isLifted) => {
    const allow = rule('allow', text, ['read', 'write']);
    expect(liftedBy(config, [allow])).toEqual(isLifted ? [allow] : []);
  });

  it('takes write access only, and lifts config rules only', () => {
    expect(liftedBy(config, [rule('allow', '/w/.github/workflows', ['read', 'exec'])])).toEqual([]);
    expect(liftedBy(config, [rule('deny', '/w/.github/workflows')])).toEqual([]);
    expect(liftedBy(rule('protect', '/w/x', ['write']), [rule('allow', '/w/x')])).toEqual([]);
  });

  it('lifts for the named place only', () => {
    const fs = [config, rule('allow', '/w'), rule('allow', '/w/.github/workflows/ci.yml')];
    expect(decide({ fs }, { op: 'write', path: '/w/.github/workflows/ci.yml' }).outcome).toBe(
      'allow',
    );
    expect(decide({ fs }, { op: 'write', path: '/w/.github/workflows/b.yml' }).outcome).toBe(
      'deny',
    );
    expect(decide({ fs }, { op: 'write', path: '/w/sub/.github/workflows/ci.yml' }).outcome).toBe(
      'deny',
    );
  });
});
