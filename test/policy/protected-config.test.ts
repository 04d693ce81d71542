import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liftedBy } from '../../src/policy/decide.ts';
import type { FsRule } from '../../src/policy/policy.ts';
import {
  mayNameConfig,
  PROTECTED_CONFIG,
  toConfigPattern,
} from '../../src/policy/protected-config.ts';

const origin = { source: 'test', key: 'fs', text: '' };

function isLifting(pattern: string): boolean {
  const rule: FsRule = { effect: 'allow', rights: ['write'], pattern, origin };
  return PROTECTED_CONFIG.some((name) => {
    const config: FsRule = { effect: 'config', rights: [], pattern: toConfigPattern(name), origin };
    return liftedBy(config, [rule]).length > 0;
  });
}

describe('mayNameConfig()', () => {
  it.each(PROTECTED_CONFIG)('is true of %s wherever it lies, and of what is in it', (name) => {
    const literal = name.replaceAll('**', 'a/b').replaceAll('*', 'x');
    for (const pattern of [`/w/${literal}`, `/w/${literal}/sub`, `/w/**/${name}`, `/${literal}`])
      expect(mayNameConfig(pattern)).toBe(true);
  });

  it('is true of every pattern that lifts a protection', () => {
    const part = fc.oneof(
      fc.constantFrom(...PROTECTED_CONFIG.flatMap((name) => [name, ...name.split('/')])),
      fc.constantFrom('a', '**', '*', '\\*', 'x.git', 'y.code-workspace', '.ssh2', 'hooks'),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const pattern = `/${parts.join('/')}`;
        if (isLifting(pattern)) expect(mayNameConfig(pattern)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('spares an ordinary place the comparison with every name', () => {
    for (const pattern of ['/home/me/project', '/tmp/assay-1000-42', '/srv/**/build'])
      expect(mayNameConfig(pattern)).toBe(false);
  });
});
