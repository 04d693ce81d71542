import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandEntry } from '../../src/policy/expand.ts';
import { matchPattern } from '../../src/policy/glob.ts';
import { VARIABLES } from './variables.ts';

const grant = { variables: VARIABLES, isNameAnywhere: false };
const refuse = { variables: VARIABLES, isNameAnywhere: true };

describe('expandEntry()', () => {
  it.each([
    ['${CWD}', '/home/ada/work'],
    ['${CWD}/src', '/home/ada/work/src'],
    ['${CWD}-build', '/home/ada/work-build'],
    ['${HOME}/.ssh', '/home/ada/.ssh'],
    ['${TMPDIR}/x', '/tmp/assay-1000-42/x'],
    ['/srv/${USER}/x', '/srv/ada/x'],
    ['~', '/home/ada'],
    ['~/.ssh', '/home/ada/.ssh'],
    ['src', '/home/ada/work/src'],
    ['.', '/home/ada/work'],
    ['..', '/home/ada'],
    ['../other', '/home/ada/other'],
    ['./a/../b', '/home/ada/work/b'],
    ['/a//b/./c/', '/a/b/c'],
    ['/../..', '/'],
    ['/a/**', '/a'],
    ['/a/**/**', '/a'],
    ['/a/**/**/b', '/a/**/b'],
    ['/**', '/'],
    ['**', '/home/ada/work'],
    ['/a/\\b\\*', '/a/b\\*'],
    ['/a/x~y', '/a/x~y'],
    ['/a/$5', '/a/\\$5'],
    ['/a/{b}', '/a/\\{b\\}'],
    ['/a/b}', '/a/b\\}'],
    ['\\~x', '/home/ada/work/~x'],
    ['\\!x', '/home/ada/work/!x'],
  ])('%s → %s', (text, pattern) =>
    expect(expandEntry(text, grant)).toEqual({ patterns: [pattern] }),
  );

  it.each([
    ['.env*', '/**/.env*'],
    ['*.pem', '/**/*.pem'],
    ['secrets/', '/**/secrets'],
    ['secrets/**', '/**/secrets'],
    ['**', '/'],
    ['./secrets', '/home/ada/work/secrets'],
    ['a/b', '/home/ada/work/a/b'],
    ['.', '/home/ada/work'],
    ['~', '/home/ada'],
    ['${CWD}', '/home/ada/work'],
  ])('where names are refused, %s → %s', (text, pattern) =>
    expect(expandEntry(text, refuse)).toEqual({ patterns: [pattern] }),
  );

  it('expands sets of alternatives, nested ones too', () => {
    expect(expandEntry('/a/{b,c{d,e}}/f', grant)).toEqual({
      patterns: ['/a/b/f', '/a/cd/f', '/a/ce/f'],
    });
    expect(expandEntry('{~,${CWD}}/.env', grant)).toEqual({
      patterns: ['/home/ada/.env', '/home/ada/work/.env'],
    });
    expect(expandEntry('{*.pem,id_rsa}', refuse)).toEqual({
      patterns: ['/**/*.pem', '/**/id_rsa'],
    });
    expect(expandEntry('/{{cookie.name}}/x', grant)).toEqual({
      patterns: ['/\\{\\{cookie.name\\}\\}/x'],
    });
  });

  it('takes wildcards in the value of a variable literally', () => {
    const cwd = '/srv/app/[id]*{a,b}';
    const expansion = expandEntry('${CWD}/x', { ...grant, variables: { ...VARIABLES, cwd } });
    const [pattern = ''] = 'patterns' in expansion ? expansion.patterns : [];
    expect(matchPattern(pattern, `${cwd}/x/y`)).toBe(true);
    expect(matchPattern(pattern, '/srv/app/i/x')).toBe(false);
  });

  it('refuses half of a surrogate pair, which no path has', () => {
    expect(expandEntry('/a\uD800b', grant)).toHaveProperty('problem');
    expect(expandEntry('/a😀b', grant)).toEqual({ patterns: ['/a😀b'] });
  });

  it('says what is wrong with an entry', () => {
    const entries = [
      '',
      '/a\0b',
      '!secret',
      '~bob/.ssh',
      '${HOEM}/x',
      '$HOME/.ssh',
      '/x/${HOME}',
      '/a/${HOME',
      '/a/{b,c',
      '/a/[b',
      '/a/[z-a]',
      '/a/[[:alpha:]]',
      '/a/**.pem',
      '/a/*/../b',
      '/a/b\\',
      '{a,b}'.repeat(7),
    ];
    const told = entries.map((entry) => ({ entry, ...expandEntry(entry, grant) }));
    expect(told.every((one) => 'problem' in one)).toBe(true);
    expect(told).toMatchSnapshot();
  });

  it('refuses variables without a usable value', () => {
    const variables = { cwd: '', home: 'relative', tmpdir: '/tmp\0', user: 'a/b' };
    const entries = ['x', '~', '${HOME}/x', '${TMPDIR}', '/home/${USER}'];
    expect(entries.map((entry) => expandEntry(entry, { ...grant, variables }))).toMatchSnapshot();
  });

  it('bounds what braces can stand for before building it', () => {
    expect(expandEntry('{a,b}'.repeat(500), grant)).toHaveProperty('problem');
  });

  const entry = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        '.',
        '..',
        '/',
        '*',
        '**',
        '?',
        '[ab]',
        '[!a]',
        '{a,b}',
        '\\*',
        '\\{',
        '{',
        '}',
        '~',
        '$',
        '${CWD}',
        '${USER}',
        ' ',
        'é',
        '\\',
      ),
      { maxLength: 9 },
    )
    .map((parts) => parts.join(''));

  it('is idempotent: a pattern expands to itself', () => {
    fc.assert(
      fc.property(entry, fc.boolean(), (text, isNameAnywhere) => {
        const options = { variables: VARIABLES, isNameAnywhere };
        const expansion = expandEntry(text, options);
        if ('problem' in expansion) return;
        for (const pattern of expansion.patterns) {
          expect(expandEntry(pattern, options)).toEqual({ patterns: [pattern] });
        }
      }),
      { numRuns: 5000 },
    );
  });

  it('gives absolute normalised patterns only', () => {
    fc.assert(
      fc.property(entry, fc.boolean(), (text, isNameAnywhere) => {
        const expansion = expandEntry(text, { variables: VARIABLES, isNameAnywhere });
        if ('problem' in expansion) return;
        for (const pattern of expansion.patterns) {
          expect(pattern).toMatch(/^\/(?!.*\/\/)/);
          expect(pattern === '/' || !pattern.endsWith('/')).toBe(true);
          expect(pattern.split('/')).not.toContain('..');
          expect(pattern.split('/')).not.toContain('.');
          expect(pattern).not.toMatch(/\/\*\*$/);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
