import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import type { QuickRules } from '../../src/policy/resolve.ts';
import {
  effectivePolicyDigest,
  listToolchain,
  makeEffectivePolicy,
} from '../../src/policy/effective-policy.ts';
import { choosePolicyParser } from '../../src/policy/parser.ts';
import type { Policy, Variables } from '../../src/policy/policy.ts';
import { VARIABLES } from './variables.ts';

const OTHER: Variables = {
  cwd: '/srv/build/7',
  home: '/home/bob',
  tmpdir: '/tmp/assay-1001-9',
  user: 'bob',
};

const TEXT = `api_version: assay/v1
extends: [coding-agent]
fs:
  read: ["~/.gitconfig", "/data/\${USER}", shared/models]
  deny: ["*.pem", "\${CWD}/secret", ../other]
net:
  allow: [localhost]
env:
  allow: [FOO]
  set: { TOKEN: hunter2, MODE: fast }
limits: { timeout: 10s, pids: 64 }
`;

async function load(
  text: string,
  { variables = VARIABLES, path = '/home/ada/p.yaml', quick }: LoadOptions = {},
): Promise<Policy> {
  const parse = await choosePolicyParser(text, path);
  const files = { read: () => text, parse, locate: (file: string) => file };
  return resolvePolicy({ file: path, quick, variables, files });
}

interface LoadOptions {
  readonly variables?: Variables;
  readonly path?: string;
  readonly quick?: QuickRules;
}

async function digest(text: string, options: LoadOptions = {}): Promise<string> {
  return effectivePolicyDigest(await load(text, options), options.variables ?? VARIABLES);
}

describe('effectivePolicyDigest()', () => {
  it('does not depend on who loads the policy, from where and for which directory', async () => {
    const elsewhere = { variables: OTHER, path: '/etc/policies/agent.yaml' };
    expect(await digest(TEXT, elsewhere)).toBe(await digest(TEXT));
  });

  it.each([
    ['comments and white space', `# for us\n\n${TEXT.replace('pids: 64', ' pids:  64 ')}`],
    [
      'the order of keys and entries',
      TEXT.replace(/^(limits:.*\n)/m, '').replace(
        'fs:\n',
        'limits: { pids: 64, timeout: 10s }\nfs:\n',
      ),
    ],
    ['the order of a list', TEXT.replace('"*.pem", "${CWD}/secret"', '"${CWD}/secret", "*.pem"')],
    ['another way to write a value', TEXT.replace('10s', '10000ms')],
    ['an entry that stands there twice', TEXT.replace('"*.pem"', '"*.pem", "*.pem"')],
    ['values of variables that are set', TEXT.replace('hunter2', 'hunter3')],
  ])('does not depend on %s', async (_, text) => {
    expect(text).not.toBe(TEXT);
    expect(await digest(text)).toBe(await digest(TEXT));
  });

  it.each([
    ['one more rule', TEXT.replace('"*.pem"', '"*.pem", "*.key"')],
    ['a rule less', TEXT.replace('"*.pem", ', '')],
    ['a rule in another list', TEXT.replace('read:', 'write:')],
    ['another network', TEXT.replace('localhost', '"*"')],
    ['another variable passed', TEXT.replace('FOO', 'BAR')],
    ['another variable set', TEXT.replace('TOKEN', 'KEY')],
    ['another limit', TEXT.replace('64', '65')],
    ['another preset', TEXT.replace('coding-agent', 'mcp-server-minimal')],
  ])('tells %s', async (_, text) => {
    expect(text).not.toBe(TEXT);
    expect(await digest(text)).not.toBe(await digest(TEXT));
  });

  it.each<[string, QuickRules]>([
    ['--allow-read', { allowRead: ['/srv/data'] }],
    ['--allow-write', { allowWrite: ['~/out'] }],
    ['--deny', { deny: ['*.key'] }],
    ['--allow-unix', { allowUnix: ['/run/x.sock'] }],
  ])('tells a run with %s', async (_, quick) => {
    expect(await digest(TEXT, { quick })).not.toBe(await digest(TEXT));
  });

  it('takes what a shell has put into a flag for what was meant', async () => {
    const mine = await digest(TEXT, {
      quick: { allowRead: ['/home/ada/x'], deny: ['/home/ada/work/y'] },
    });
    const theirs = await digest(TEXT, {
      variables: OTHER,
      quick: { allowRead: ['/home/bob/x'], deny: ['/srv/build/7/y'] },
    });
    expect(theirs).toBe(mine);
  });

  it('keeps a path that a file names apart from a place that happens to be the same', async () => {
    const text = TEXT.replace('"~/.gitconfig"', '/home/ada/.gitconfig');
    expect(await digest(text)).not.toBe(await digest(TEXT));
    expect(await digest(text, { variables: OTHER })).toBe(await digest(text));
  });
});

describe('makeEffectivePolicy()', () => {
  it('says every rule in its general form', async () => {
    const { fs, net, env, limits } = makeEffectivePolicy(await load(TEXT), VARIABLES);
    const find = (text: string): object[] => fs.filter((rule) => rule.text === text);
    expect(find('~/.gitconfig')).toEqual([
      {
        effect: 'allow',
        rights: ['read'],
        pattern: '${HOME}/.gitconfig',
        key: 'fs.read',
        text: '~/.gitconfig',
      },
    ]);
    expect(find('/data/${USER}')).toMatchObject([{ pattern: '/data/${USER}' }]);
    expect(find('shared/models')).toMatchObject([{ pattern: '${CWD}/shared/models' }]);
    expect(find('*.pem')).toMatchObject([{ effect: 'deny', pattern: '/**/*.pem' }]);
    expect(find('../other')).toMatchObject([{ pattern: '../other' }]);
    expect(find('.bashrc')).toMatchObject([{ effect: 'config', pattern: '/**/.bashrc' }]);
    expect(find('/usr')).toMatchObject([{ effect: 'allow', rights: ['exec', 'read'] }]);
    expect(find('${TMPDIR}')).toMatchObject([{ pattern: '${TMPDIR}' }]);
    expect(net).toContainEqual({ effect: 'allow', text: 'localhost' });
    expect(env).toMatchObject({ allow: ['FOO'], strip_exec: true });
    expect(limits).toEqual({ timeout_ms: 10_000, pids: 64 });
  });

  it('has names of variables and no values', async () => {
    const policy = makeEffectivePolicy(await load(TEXT), VARIABLES);
    expect(Object.keys(policy.env.set)).toEqual(['TOKEN', 'MODE']);
    expect(JSON.stringify(policy)).not.toMatch(/hunter2|fast/);
  });

  it('leaves out what is found on the machine, which stands beside it', async () => {
    const policy = await load(TEXT);
    const found = {
      effect: 'allow' as const,
      rights: ['read', 'exec'] as const,
      pattern: '/home/ada/.nvm/v20',
      origin: { source: 'toolchain', key: 'fs.exec', text: '/home/ada/.nvm/v20', isOfHost: true },
    } as const;
    const more = { ...policy, fs: [...policy.fs, found] };
    expect(effectivePolicyDigest(more, VARIABLES)).toBe(effectivePolicyDigest(policy, VARIABLES));
    expect(listToolchain(more, VARIABLES)).toEqual(['${HOME}/.nvm/v20']);
  });

  it('holds what an escape in a file can make', async () => {
    const policy = await load(TEXT.replace('[FOO]', String.raw`["x\uD800"]`));
    expect(makeEffectivePolicy(policy, VARIABLES).env.allow).toEqual(['x\uFFFD']);
    expect(effectivePolicyDigest(policy, VARIABLES)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('names neither user nor directory', async () => {
    const quick = { allowRead: ['/home/ada/work/x'] };
    const text = JSON.stringify(makeEffectivePolicy(await load(TEXT, { quick }), VARIABLES));
    expect(text).not.toMatch(/ada|assay-1000/);
  });
});
