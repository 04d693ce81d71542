import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import type { QuickRules } from '../../src/policy/resolve.ts';
import { decide } from '../../src/policy/decide.ts';
import type { PolicyFiles } from '../../src/policy/extend.ts';
import { matchPattern } from '../../src/policy/glob.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import type { FsRight, Policy } from '../../src/policy/policy.ts';
import { formatProblems, PolicyError } from '../../src/policy/problems.ts';
import { VARIABLES } from './variables.ts';

function filesOf(contents: Record<string, string>): PolicyFiles {
  return {
    read(file) {
      const text = contents[file];
      if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return text;
    },
    parse: parsePolicyText,
    locate: (file) => (file.startsWith('/') ? file : `/home/ada/work/${file}`),
  };
}

function resolve(
  contents: Record<string, string>,
  file = 'policy.yaml',
  quick?: QuickRules,
): Policy {
  return resolvePolicy({ file, files: filesOf(contents), variables: VARIABLES, quick });
}

function complain(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof PolicyError) return formatProblems(error.problems);
    throw error;
  }
  throw new Error('nothing was wrong');
}

const can = (policy: Policy, op: FsRight, path: string): boolean =>
  decide(policy, { op, path, tmpdir: VARIABLES.tmpdir }).outcome === 'allow';

describe('resolvePolicy()', () => {
  it('gives a file without `extends` the system baseline and the private tmp, nothing else', () => {
    const policy = resolve({ 'policy.yaml': 'fs: { read: [data] }\n' });
    expect(policy).toMatchObject({ name: 'policy.yaml', isDefault: false, net: [], unix: [] });
    expect(can(policy, 'read', '/home/ada/work/data/x')).toBe(true);
    expect(can(policy, 'read', '/home/ada/work/src')).toBe(false);
    expect(can(policy, 'write', '/tmp/assay-1000-42/x')).toBe(true);
    expect(can(policy, 'exec', '/usr/bin/true')).toBe(true);
  });

  it('gives each list its rights', () => {
    const text =
      'fs: { allow: [/a], read: [/r], write: [/w], exec: [/e], deny: [/a/d], protect: [/a/p] }\n';
    const policy = resolve({ 'policy.yaml': text });
    const rights = (path: string) =>
      (['read', 'write', 'exec'] as const).filter((op) => can(policy, op, path));
    expect(
      Object.fromEntries(
        ['/a', '/r', '/w', '/e', '/a/d', '/a/p'].map((path) => [path, rights(path)]),
      ),
    ).toEqual({
      '/a': ['read', 'write', 'exec'],
      '/r': ['read'],
      '/w': ['read', 'write'],
      '/e': ['read', 'exec'],
      '/a/d': [],
      '/a/p': ['read', 'exec'],
    });
  });

  it('combines what it extends: lists append, values override, each document counts once', () => {
    const policy = resolve({
      'policy.yaml':
        'extends: [./lib/a.yaml, lib/b.json, coding-agent]\nlimits: { pids: 7 }\nenv: { mode: strict, set: { A: mine } }\n',
      'lib/a.yaml': 'extends: [base.yaml]\nfs: { read: [/a] }\nenv: { allow: [X] }\n',
      'lib/b.json':
        '{"extends": ["./base.yaml"], "fs": {"read": ["/b"]}, "limits": {"timeout": "5s"}}',
      'lib/base.yaml':
        'fs: { read: [/base] }\nenv: { allow: [Y], set: { A: theirs, B: "1" } }\nunix: { allow: [/run/x.sock] }\n',
    });
    const read = policy.fs.filter(({ origin }) => origin.key === 'fs.read' && origin.at);
    expect(read.map(({ pattern, origin }) => [pattern, origin.source])).toEqual([
      ['/base', 'lib/base.yaml:1:14'],
      ['/a', 'lib/a.yaml:2:14'],
      ['/b', 'lib/b.json:1:46'],
    ]);
    expect(policy.limits).toMatchObject({ pids: 7, timeoutMs: 5000 });
    expect(policy.env).toMatchObject({
      mode: 'strict',
      allow: ['Y', 'X'],
      set: { A: 'mine', B: '1' },
    });
    expect(policy.unix).toMatchObject([{ effect: 'allow', pattern: '/run/x.sock' }]);
    expect(can(policy, 'write', '/home/ada/work/a')).toBe(true);
  });

  it('lets a file build on a preset named beside it', () => {
    const input = { preset: 'coding-agent', file: 'p.yaml', variables: VARIABLES };
    const policy = resolvePolicy({ ...input, files: filesOf({ 'p.yaml': 'limits: { pids: 5 }' }) });
    expect(policy).toMatchObject({ name: 'p.yaml', isDefault: false, limits: { pids: 5 } });
    expect(can(policy, 'write', '/home/ada/work/a')).toBe(true);
  });

  it('finds files to extend by ~, variables and absolute paths', () => {
    const policy = resolve({
      'policy.yaml': 'extends: [~/a.yaml, "${CWD}/b.yaml", /c.yaml]\n',
      '/home/ada/a.yaml': 'fs: { read: [/a] }',
      '/home/ada/work/b.yaml': 'fs: { read: [/b] }',
      '/c.yaml': 'fs: { read: [/c] }',
    });
    expect(['/a', '/b', '/c'].every((path) => can(policy, 'read', path))).toBe(true);
  });

  it('adds the rules of the command line', () => {
    const quick = {
      allowRead: ['~/notes'],
      allowWrite: ['out', '.vscode/settings.json'],
      deny: ['.env*'],
      allowUnix: ['/run/d.sock'],
    };
    const policy = resolvePolicy({ preset: 'coding-agent', quick, variables: VARIABLES });
    expect(can(policy, 'read', '/home/ada/notes/a')).toBe(true);
    expect(can(policy, 'write', '/home/ada/notes/a')).toBe(false);
    expect(can(policy, 'write', '/home/ada/work/.vscode/settings.json')).toBe(true);
    expect(can(policy, 'write', '/home/ada/work/.vscode/tasks.json')).toBe(false);
    expect(can(policy, 'read', '/home/ada/work/deep/.env.local')).toBe(false);
    expect(policy.unix.map(({ origin }) => origin.source)).toEqual(['--allow-unix']);
  });

  it('protects the policy files it was made from', () => {
    const policy = resolve({
      'policy.yaml': 'extends: [./base.yml]\nfs: { allow: ["${CWD}"] }\n',
      'base.yml': '',
    });
    expect(can(policy, 'write', '/home/ada/work/policy.yaml')).toBe(false);
    expect(can(policy, 'write', '/home/ada/work/base.yml')).toBe(false);
    expect(can(policy, 'write', '/home/ada/work/other.yaml')).toBe(true);
  });

  it('checks examples, against everything but the command line', () => {
    const text = `
extends: [coding-agent]
net: { allow: ["*.example.com:443"] }
tests:
  - deny: fs.read ~/.ssh/id_rsa
  - allow: fs.write \${CWD}/src/a.ts
  - allow: fs.write \${TMPDIR}/.npmrc
  - deny: fs.write .npmrc
  - deny: fs.exec /etc/passwd
  - allow: net.connect api.example.com:443
  - deny: net.connect api.example.com:80
  - deny: net.connect 8.8.8.8
  - allow: net.connect 127.0.0.1:3000
  - deny: net.connect [::1]:80
  - deny: fs.read ~/notes
`;
    expect(() =>
      resolve({ 'policy.yaml': text }, 'policy.yaml', { allowRead: ['~/notes'] }),
    ).not.toThrow();
  });

  const chain = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`p${i}.yaml`, `extends: [./p${i + 1}.yaml]\n`]),
  );
  const failures: [string, Record<string, string>][] = [
    ['a missing file', {}],
    ['a missing file to extend', { 'policy.yaml': 'extends:\n  - ./gone.yaml\n' }],
    ['an unknown preset', { 'policy.yaml': 'extends: [coding-agnt]\n' }],
    ['a preset name like a property', { 'policy.yaml': 'extends: [constructor]\n' }],
    ['an unknown variable in extends', { 'policy.yaml': 'extends: ["${WHERE}/x.yaml"]\n' }],
    [
      'a circle',
      { 'policy.yaml': 'extends: [./b.yaml]\n', 'b.yaml': 'extends: [./policy.yaml]\n' },
    ],
    ['a file that extends itself', { 'policy.yaml': 'extends: [policy.yaml]\n' }],
    [
      'a problem in a file to extend',
      { 'policy.yaml': 'extends: [./b.yaml]\n', 'b.yaml': 'fs: { alow: [] }\n' },
    ],
    ['a chain that is too long', { 'policy.yaml': 'extends: [./p0.yaml]\n', ...chain }],
    [
      'bad entries',
      {
        'policy.yaml':
          'fs:\n  read: [~bob, "${NOPE}/x"]\n  deny: ["[a"]\nunix:\n  allow: ["$HOME/s"]\n',
      },
    ],
    [
      'examples that do not hold',
      {
        'policy.yaml': `extends: [coding-agent]
fs:
  read: ["~"]
tests:
  - deny: fs.read ~/notes
  - allow: fs.read ~/.ssh/id_rsa
  - allow: fs.write /srv/x
  - allow: fs.write .npmrc
  - allow: net.connect example.com:443
  - allow: net.connect 8.8.8.8
  - deny: net.connect localhost
`,
      },
    ],
    [
      'examples that mean nothing',
      {
        'policy.yaml': `tests:
  - deny: fs.read *.pem
  - deny: fs.read /{a,b}
  - deny: fs.read ~bob
  - deny: net.connect *.example.com
  - deny: net.connect 10.0.0.0/8
  - deny: net.connect a b
`,
      },
    ],
  ];
  it.each(failures)('explains %s', (_, contents) =>
    expect(complain(() => resolve(contents))).toMatchSnapshot(),
  );

  it('explains what is wrong on the command line', () => {
    const quick = { allowRead: ['~bob'], allowWrite: [''], deny: ['${X}'], allowUnix: ['/a/[b'] };
    expect(complain(() => resolvePolicy({ quick, variables: VARIABLES }))).toMatchSnapshot();
    expect(
      complain(() => resolvePolicy({ preset: 'minimal', variables: VARIABLES })),
    ).toMatchSnapshot();
    expect(
      complain(() => resolvePolicy({ file: 'a.yaml', variables: VARIABLES })),
    ).toMatchSnapshot();
  });

  it('explains a file that cannot be read for other reasons', () => {
    const explain = (error: unknown) => {
      const files = {
        ...filesOf({}),
        read: () => {
          throw error;
        },
      };
      return complain(() => resolvePolicy({ file: 'p.yaml', files, variables: VARIABLES }));
    };
    const errors = ['EACCES', 'EISDIR', 'EIO'].map((code) =>
      Object.assign(new Error('broken'), { code }),
    );
    expect([...errors, 'odd'].map(explain)).toMatchSnapshot();
  });

  it('puts every rule in the form the matcher takes', () => {
    const policy = resolvePolicy({ preset: 'coding-agent', variables: VARIABLES });
    for (const { pattern } of policy.fs) expect(matchPattern(pattern, '/')).toBe(false);
  });
});
