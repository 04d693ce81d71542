import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { findConflicts } from '../../src/policy/conflicts.ts';
import { matchPattern } from '../../src/policy/glob.ts';
import type { FsRight, FsRule } from '../../src/policy/policy.ts';
import { VARIABLES } from './variables.ts';

const ALL: FsRight[] = ['read', 'write', 'exec'];

function rule(effect: FsRule['effect'], pattern: string, rights: FsRight[] = ALL): FsRule {
  return {
    effect,
    rights,
    pattern,
    origin: { source: 'test', key: `fs.${effect}`, text: pattern },
  };
}

function hasConflict(deny: string, allow: string): boolean {
  return findConflicts({ fs: [rule('deny', deny), rule('allow', allow)] }).length > 0;
}

describe('findConflicts()', () => {
  it.each([
    ['/home/ada/.ssh', '/home/ada'],
    ['/home/ada', '/home/ada'],
    ['/home', '/home/ada'],
    ['/**/*.pem', '/home/ada'],
    ['/w/secret', '/w/*'],
    ['/w/a*', '/w/*b'],
    ['/w/[a-f]x', '/w/[!g-z]x'],
  ])('%s in %s', (deny, allow) => expect(hasConflict(deny, allow)).toBe(true));

  it.each([
    ['/home/adam', '/home/ada'],
    ['/w/a*', '/w/b*'],
    ['/w/[ab]', '/w/[!ab]'],
    ['/w/?', '/w/cc'],
    ['/w/x', '/v'],
  ])('none between %s and %s', (deny, allow) => expect(hasConflict(deny, allow)).toBe(false));

  it('looks at rights: protecting a place that is only readable takes nothing away', () => {
    const fs = [rule('protect', '/w/x', ['write']), rule('allow', '/w', ['read', 'exec'])];
    expect(findConflicts({ fs })).toEqual([]);
  });

  it('counts the system baseline, and leaves the default policy free of conflicts', () => {
    const find = (deny: string[]) =>
      findConflicts(resolvePolicy({ quick: { deny }, variables: VARIABLES })).map(
        (one) => `${one.deny.pattern} in ${one.allow.pattern}`,
      );
    expect(find([])).toEqual([]);
    expect(find(['/usr/bin/curl'])).toEqual(['/usr/bin/curl in /usr']);
  });

  it('finds the denied home of a workspace that is the home', () => {
    const variables = { ...VARIABLES, cwd: VARIABLES.home };
    const denied = findConflicts(resolvePolicy({ variables })).map(({ deny }) => deny.pattern);
    expect(denied).toContain('/home/ada/.ssh');
  });

  it('agrees with trying every path of a small tree', () => {
    const names = ['a', 'b', 'ab', 'ba', 'aa', 'bb'];
    let level = [''];
    const paths = ['/'];
    for (let depth = 0; depth < 4; depth++) {
      level = level.flatMap((dir) => names.map((name) => `${dir}/${name}`));
      paths.push(...level);
    }
    // Two segments and names of two characters at most: whatever two patterns share, four levels hold.
    const segment = fc.constantFrom(
      'a',
      'b',
      'a*',
      '*b',
      '?',
      '??',
      '*',
      '**',
      '[ab]',
      '[!a]',
      '[!b]a',
    );
    const pattern = fc
      .array(segment, { minLength: 1, maxLength: 2 })
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(pattern, pattern, (deny, allow) => {
        const isShared = paths.some(
          (path) => matchPattern(deny, path) && matchPattern(allow, path),
        );
        expect(hasConflict(deny, allow)).toBe(isShared);
      }),
      { numRuns: 300 },
    );
  });
});
