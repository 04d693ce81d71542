import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import {
  canMatchBelow,
  escapeLiteral,
  isLiteral,
  literalPrefix,
  matchPattern,
  unescapeLiteral,
} from '../../src/policy/glob.ts';
import { watchProcessor } from '../processor-time.ts';

describe('matchPattern()', () => {
  it.each([
    ['/', '/anything/at/all'],
    ['/a', '/a'],
    ['/a', '/a/b/c'],
    ['/**/.env*', '/w/.env'],
    ['/**/.env*', '/w/deep/.env.local/x'],
    ['/**/x', '/x'],
    ['/a/**/z', '/a/z'],
    ['/a/**/z', '/a/b/c/z/below'],
    ['/a/*', '/a/.hidden'],
    ['/a/?', '/a/é'],
    ['/a/?', '/a/😀'],
    ['/a/[a-c]x', '/a/bx'],
    ['/a/[!a-c]x', '/a/dx'],
    ['/a/[^a-c]x', '/a/dx'],
    ['/a/[]x]', '/a/]'],
    ['/a/[a-]', '/a/-'],
    ['/a/[\\]]', '/a/]'],
    ['/a/[α-ω]', '/a/λ'],
    ['/a/\\*', '/a/*'],
    ['/a/[b', '/a/[b'],
    ['/**/.git/modules/**/hooks', '/w/.git/modules/x/y/hooks/pre-commit'],
  ])('%s covers %s', (pattern, path) => expect(matchPattern(pattern, path)).toBe(true));

  it.each([
    ['/a', '/ab'],
    ['/a/b', '/a'],
    ['/a/*/c', '/a/c'],
    ['/a/*', '/a'],
    ['/a/*.pem', '/a/b/c.pem'],
    ['/a/?', '/a/bc'],
    ['/a/[!a-c]x', '/a/bx'],
    ['/a/\\*', '/a/b'],
    ['/a/B', '/a/b'],
    ['/**/x', '/xx'],
  ])('%s does not cover %s', (pattern, path) => expect(matchPattern(pattern, path)).toBe(false));

  it('stays fast on patterns made to backtrack', () => {
    const spentMs = watchProcessor();
    const path = `/${'a'.repeat(2000)}`;
    expect(matchPattern(`/${'*a'.repeat(200)}*b`, path)).toBe(false);
    expect(matchPattern(`${'/**/a'.repeat(60)}/b`, '/a'.repeat(400))).toBe(false);
    expect(spentMs()).toBeLessThan(2000);
  });

  const name = fc.stringMatching(/^[ab.]{1,4}$/).filter((text) => !/^\.+$/.test(text));
  const segment = fc.oneof(
    { weight: 1, arbitrary: fc.constant('**') },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]'), {
          minLength: 1,
          maxLength: 5,
        })
        .map((parts) => parts.join(''))
        .filter((text) => !text.includes('**') && !/^\.+$/.test(text)),
    },
  );
  const joined = (part: fc.Arbitrary<string>) =>
    fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);

  it('agrees with picomatch, applied to the path and its parents', () => {
    const options = {
      dot: true,
      nobrace: true,
      noextglob: true,
      nonegate: true,
      posix: true,
    };
    fc.assert(
      fc.property(joined(segment), joined(name), (raw, path) => {
        // Expansion leaves no trailing `**`, and picomatch has exceptions for it.
        const pattern = raw.replace(/(\/\*\*)+$/, '');
        // Below a named directory, because picomatch treats a `**` right at the root in its own way.
        const isMatch = picomatch(`r${pattern}`, options);
        const parts = `r${path}`.split('/');
        const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
        expect(matchPattern(`/r${pattern}`, `/r${path}`)).toBe(places.some((one) => isMatch(one)));
      }),
      { numRuns: 3000 },
    );
  });

  it('canMatchBelow() is true whenever something below is matched', () => {
    fc.assert(
      fc.property(joined(segment), joined(name), joined(name), (pattern, dir, rest) => {
        if (matchPattern(pattern, dir + rest)) expect(canMatchBelow(pattern, dir)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('an escaped path covers itself and nothing beside it', () => {
    const any = fc
      .string({ minLength: 1, maxLength: 6 })
      .filter((s) => !/[/\0]/.test(s) && !/^\.+$/.test(s));
    fc.assert(
      fc.property(any, any, (first, second) => {
        const pattern = escapeLiteral(`/${first}`);
        expect(isLiteral(pattern)).toBe(true);
        expect(unescapeLiteral(pattern)).toBe(`/${first}`);
        expect(literalPrefix(pattern)).toBe(`/${first}`);
        expect(matchPattern(pattern, `/${second}`)).toBe(first === second);
      }),
    );
  });
});

describe('canMatchBelow()', () => {
  it.each([
    ['/a/b', '/a', true],
    ['/a/b', '/', true],
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/c', false],
    ['/a/*/c', '/a/x', true],
    ['/a/*/c', '/a/x/d', false],
    ['/**/.env', '/any/where', true],
    ['/a/*.d/x', '/a/b', false],
  ])('%s below %s: %s', (pattern, dir, expected) =>
    expect(canMatchBelow(pattern, dir)).toBe(expected),
  );
});

describe('literalPrefix()', () => {
  it.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/*/b', '/a'],
    ['/**/b', '/'],
    ['/a/\\[id\\]/b*', '/a/[id]'],
  ])('%s → %s', (pattern, prefix) => expect(literalPrefix(pattern)).toBe(prefix));
});
