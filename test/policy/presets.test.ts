import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { decide } from '../../src/policy/decide.ts';
import { isLiteral } from '../../src/policy/glob.ts';
import type { FsRight, Policy } from '../../src/policy/policy.ts';
import { VARIABLES } from './variables.ts';

const can = (policy: Policy, op: FsRight, path: string): boolean =>
  decide(policy, { op, path, tmpdir: VARIABLES.tmpdir }).outcome === 'allow';

describe('the default policy', () => {
  const policy = resolvePolicy({ variables: VARIABLES });

  it('is mcp-server-minimal', () => {
    expect(policy).toMatchObject({
      name: 'mcp-server-minimal',
      isDefault: true,
      limits: { pids: 1024 },
    });
    expect(policy.env).toEqual({
      mode: 'scrub',
      isExecStripped: true,
      isPathSafe: false,
      allow: [],
      deny: [],
      set: {},
    });
    expect(policy.net.map(({ effect, text }) => `${effect} ${text}`)).toEqual([
      'allow 127.0.0.1',
      'allow localhost',
      'deny 0.0.0.0/0',
    ]);
  });

  it.each([
    ['read', '/home/ada/work/src/a.ts', true],
    ['exec', '/home/ada/work/run.sh', true],
    ['write', '/home/ada/work/src/a.ts', false],
    ['write', '/tmp/assay-1000-42/x', true],
    ['exec', '/tmp/assay-1000-42/x', true],
    ['write', '/tmp/assay-1000-42/.git/hooks/pre-commit', true],
    ['read', '/tmp/other', false],
    ['exec', '/usr/bin/git', true],
    ['write', '/usr/bin/git', false],
    ['read', '/etc/ssl/certs/ca-certificates.crt', true],
    ['exec', '/etc/profile', false],
    ['write', '/dev/null', true],
    ['read', '/home/ada/.ssh/id_rsa', false],
    ['read', '/home/ada/.gitconfig', false],
    ['read', '/home/ada/.nvm/versions/node', false],
  ] as const)('%s %s: %s', (op, path, expected) => expect(can(policy, op, path)).toBe(expected));

  it.each([
    '/etc/shadow',
    '/etc/shadow-',
    '/etc/gshadow',
    '/etc/sudoers',
    '/etc/ssh/ssh_host_ed25519_key',
    '/etc/ssl/private/key.pem',
    '/etc/pki/tls/private/key.pem',
    '/etc/machine-id',
    '/etc/apt/auth.conf',
    '/etc/mysql/debian.cnf',
    '/root/.bashrc',
    '/var/run/docker.sock',
    '/run/secrets/token',
    '/sys/firmware/efi',
    '/dev/sda',
    '/dev/mem',
    '/boot/vmlinuz',
  ])('does not let %s be read', (path) => expect(can(policy, 'read', path)).toBe(false));

  it('grants literal places only, so the kernel can enforce each', () => {
    const granted = policy.fs.filter(({ effect }) => effect === 'allow');
    expect(granted.length).toBeGreaterThan(100);
    expect(granted.every(({ pattern }) => isLiteral(pattern))).toBe(true);
  });
});

describe('the coding-agent preset', () => {
  const policy = resolvePolicy({ preset: 'coding-agent', variables: VARIABLES });

  it('makes the workspace writable and keeps what it extends', () => {
    expect(policy).toMatchObject({
      name: 'coding-agent',
      isDefault: false,
      limits: { pids: 8192 },
    });
    expect(can(policy, 'write', '/home/ada/work/src/a.ts')).toBe(true);
    expect(can(policy, 'read', '/home/ada/.ssh/id_rsa')).toBe(false);
    expect(can(policy, 'write', '/home/ada/other')).toBe(false);
  });

  it.each([
    '.git/hooks/pre-commit',
    'sub/.git/hooks',
    'mirror.git/hooks/post-receive',
    '.git/modules/lib/deep/hooks/x',
    '.git/commondir',
    '.bashrc',
    'a/b/.envrc',
    '.npmrc',
    '.husky/pre-commit',
    '.vscode/tasks.json',
    '.idea/workspace.xml',
    'my.code-workspace',
    '.mcp.json',
    '.claude/settings.json',
    '.cursor/mcp.json',
    '.github/workflows/ci.yml',
    '.gitlab-ci.yml',
    'Jenkinsfile',
    '.config/git/config',
    'assay.yaml',
  ])('protects %s', (name) => {
    expect(can(policy, 'write', `/home/ada/work/${name}`)).toBe(false);
    expect(can(policy, 'read', `/home/ada/work/${name}`)).toBe(true);
  });

  it.each([
    '.git/index',
    '.git/objects/ab/cd',
    '.git/refs/heads/main',
    '.git/info/exclude',
    '.gitignore',
    '.gitattributes',
    '.github/ISSUE_TEMPLATE.md',
    '.githooks.md',
    'hooks/useState.ts',
    'package.json',
    'Makefile',
    'AGENTS.md',
    '.env',
    '.BASHRC',
    'jenkinsfile.md',
  ])('leaves %s to the work', (name) =>
    expect(can(policy, 'write', `/home/ada/work/${name}`)).toBe(true),
  );

  it('protects the configuration of a workspace that lies inside a protected name', () => {
    const cwd = '/home/ada/.claude/worktrees/x';
    const nested = resolvePolicy({ preset: 'coding-agent', variables: { ...VARIABLES, cwd } });
    expect(can(nested, 'write', `${cwd}/src/a.ts`)).toBe(true);
    expect(can(nested, 'write', `${cwd}/.claude/settings.json`)).toBe(false);
    expect(can(nested, 'write', `${cwd}/sub/.claude/settings.json`)).toBe(false);
    expect(can(nested, 'write', '/home/ada/.claude/settings.json')).toBe(false);
  });
});
