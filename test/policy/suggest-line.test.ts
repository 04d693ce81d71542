import { describe, expect, it } from 'vitest';
import { parsePolicyText } from '../../src/policy/load.ts';
import { PolicyError } from '../../src/policy/problems.ts';

/** The hints for a text that must not load, each once. */
function hintsFor(text: string, file: string): string[] {
  try {
    parsePolicyText(text, file);
  } catch (error) {
    if (error instanceof PolicyError)
      return [...new Set(error.problems.map(({ hint }) => hint ?? 'none'))];
    throw error;
  }
  throw new Error('the policy loaded');
}

function readLine(hint: string | undefined): string {
  return /^write `(.*)`$/.exec(hint ?? '')?.[1] ?? `no line: ${hint}`;
}

describe('the hint for a policy that says it in another form', () => {
  it.each([
    ['net: block', { net: { deny: ['*'] } }],
    ['net: none', { net: { deny: ['*'] } }],
    ['net: off', { net: { deny: ['*'] } }],
    ['net: false', { net: { deny: ['*'] } }],
    ['Net: block', { net: { deny: ['*'] } }],
    ['network: block', { net: { deny: ['*'] } }],
    ['net: allow', { net: { allow: ['*'] } }],
    ['net: api', { net: { allow: ['api'] } }],
    ['net: [example.com, 10.0.0.0/8]', { net: { allow: ['example.com', '10.0.0.0/8'] } }],
    ['fs: contain', { fs: {} }],
    ['fs: /tmp', { fs: { allow: ['/tmp'] } }],
    ['Filesystem: [/tmp, ~/x]', { fs: { allow: ['/tmp', '~/x'] } }],
    ['env: strict', { env: { mode: 'strict' } }],
    ['unix: /run/x.sock', { unix: { allow: ['/run/x.sock'] } }],
    ['extends: coding-agent', { extends: ['coding-agent'] }],
    [
      'allow: /home/**\ndeny:  /home/.ssh/**',
      { fs: { allow: ['/home/**'], deny: ['/home/.ssh/**'] } },
    ],
    ['deny: ["*.pem", .env, "${HOME}/.ssh"]', { fs: { deny: ['*.pem', '.env', '${HOME}/.ssh'] } }],
    [
      'allow: ["*.example.com"]\ndeny: "0.0.0.0/0"',
      { net: { allow: ['*.example.com'], deny: ['0.0.0.0/0'] } },
    ],
    [`read: '/a"x": c'`, { fs: { read: ['/a"x": c'] } }],
  ])('%s is the line to write, and it loads', (text, data) => {
    const [hint, ...more] = hintsFor(text, 'p.yaml');
    expect(more).toEqual([]);
    expect(parsePolicyText(readLine(hint), 'p.yaml').data).toEqual(data);
  });

  it('is JSON for JSON', () => {
    const [hint] = hintsFor('{"allow": "/home/**", "deny": "/home/.ssh/**"}', 'p.json');
    const { data } = parsePolicyText(`{${readLine(hint)}}`, 'p.json');
    expect(data).toEqual({ fs: { allow: ['/home/**'], deny: ['/home/.ssh/**'] } });
  });

  it.each([
    ['net: { block: true }', 'write `deny: ["*"]`'],
    ['net: { block: [example.com] }', 'write `deny: ["example.com"]`'],
    ['net: { deny: all }', 'write `deny: ["*"]`'],
    ['fs: { deny: /home/.ssh/** }', 'write `deny: ["/home/.ssh/**"]`'],
    ['fs: {}\ndeny: .env', 'write `deny: [".env"]` below `fs`'],
    ['net: audit', expect.stringContaining('--dry-run')],
    ['FS: audit', expect.stringContaining('--dry-run')],
  ])('for %s is about what stands there', (text, hint) => {
    expect(hintsFor(text, 'p.yaml')).toEqual([hint]);
  });

  it.each([
    ['a mixture of paths and hosts', 'allow: [/home, example.com]'],
    ['an address of a page', 'allow: https://example.com/'],
    ['several in one text', 'env: { allow: "A,B" }'],
    ['what a terminal would act on', `fs: { read: "/a\u202e" }`],
    ['more than can be copied', `fs: { read: /${'a'.repeat(200)} }`],
    ['names of every object', 'constructor: block'],
  ])('guesses nothing for %s', (_, text) => {
    expect(hintsFor(text, 'p.yaml')).toEqual([expect.not.stringContaining('write')]);
  });
});
