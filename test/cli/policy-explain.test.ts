import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/commands/policy-explain.ts';
import type { HostExplanation } from '../../src/cli/explain/host.ts';
import type { OpExplanation, PathExplanation } from '../../src/cli/explain/path.ts';
import { capture } from './capture.ts';

let dir = '';
// Not below /tmp, which is private inside and has its own answer.
beforeEach(() => void (dir = realpathSync(mkdtempSync(join(homedir(), '.assay-explain-')))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Flags = Readonly<Record<string, string>>;

async function explain<T = PathExplanation>(asked: string, flags: Flags = {}): Promise<T> {
  const { stdout, code } = await capture(run, { json: 'true', workdir: dir, ...flags }, [asked]);
  expect(code).toBe(0);
  return JSON.parse(stdout) as T;
}

async function explainOp(asked: string, op: string, flags: Flags = {}): Promise<OpExplanation> {
  const { ops } = await explain(asked, { op, ...flags });
  expect(ops).toHaveLength(1);
  return ops[0] as OpExplanation;
}

function layersOf({ layers }: { layers: readonly { layer: string }[] }): string[] {
  return layers.map(({ layer }) => layer);
}

describe('policy explain PATH', () => {
  it('names the rule, where it stands, and the layers that keep it', async () => {
    const policy = join(dir, 'policy.yaml');
    mkdirSync(join(dir, 'private'));
    writeFileSync(policy, `fs:\n  allow: ["\${CWD}"]\n  deny: ["\${CWD}/private"]\n`);
    const read = await explainOp('private/x', 'read', { policy });
    expect(read).toMatchObject({
      outcome: 'deny',
      rule: { key: 'fs.deny', text: '${CWD}/private', source: `${policy}:3:10` },
      isEnforced: true,
      allowWith: null,
    });
    expect(layersOf(read)).toEqual(['mount', 'broker']);
    const other = await explainOp('public', 'write', { policy });
    expect(other).toMatchObject({ outcome: 'allow', rule: { key: 'fs.allow' } });
    expect(layersOf(other)).toEqual(['landlock', 'mount', 'broker']);
  });

  it('says that no rule allows it, and how to allow it', async () => {
    const write = await explainOp('file.txt', 'write');
    expect(write).toMatchObject({
      outcome: 'deny',
      rule: null,
      allowWith: {
        flag: '--allow-write .',
        policyLine: 'fs: { write: ["${CWD}"] }',
      },
    });
    expect(layersOf(write)).toEqual(['landlock', 'mount']);
  });

  it('follows links in the path and in the rules', async () => {
    mkdirSync(join(dir, 'real'));
    symlinkSync(join(dir, 'real'), join(dir, 'link'));
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, `fs:\n  read: ["${dir}/link"]\n`);
    const { path, ops } = await explain('link/new', { policy, op: 'read' });
    expect(path).toBe(join(dir, 'real/new'));
    expect(ops[0]?.outcome).toBe('allow');
  });

  it('takes wildcards in the path for what they are: characters', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, `fs:\n  read: ["\${CWD}"]\n  deny: ["\${CWD}/secret"]\n`);
    expect((await explainOp('./*', 'read', { policy })).outcome).toBe('allow');
  });

  it('explains configuration protection, and what lifts it', async () => {
    const write = await explainOp('.vscode/tasks.json', 'write', { preset: 'coding-agent' });
    expect(write).toMatchObject({
      outcome: 'deny',
      rule: { effect: 'config', source: 'configuration protection' },
      allowWith: { flag: '--allow-write ./.vscode/tasks.json' },
    });
    expect(layersOf(write)).toContain('broker');
  });

  it('asks about sockets only where there can be one', async () => {
    expect((await explain('/etc/passwd')).ops.map(({ op }) => op)).toEqual([
      'read',
      'write',
      'exec',
    ]);
    const connect = await explainOp('./agent.sock', 'connect');
    expect(connect).toMatchObject({
      outcome: 'deny',
      allowWith: { flag: '--allow-unix ./agent.sock' },
    });
  });

  it('says that /tmp is another one inside', async () => {
    expect((await explain('/tmp/some-file', { op: 'read' })).notes[0]).toContain(
      'private to the run',
    );
  });

  it('says that what is granted cannot be made where its directory is not there', async () => {
    const policy = join(dir, 'policy.yaml');
    const explainNew = async (path: string): Promise<PathExplanation> => {
      writeFileSync(policy, `fs: { write: ["${path}"] }\n`);
      return explain(path, { policy, op: 'write' });
    };
    expect((await explainNew(join(dir, 'new'))).notes).toEqual([]);
    expect((await explainNew(join(dir, 'none/new'))).notes[0]).toContain('cannot be made here');
  });

  it('prints text', async () => {
    const { stdout } = await capture(run, { workdir: dir, op: 'read' }, ['/etc/shadow']);
    expect(stdout).toContain('read    refused by fs.deny: /etc/shadow (preset mcp-server-minimal)');
    expect(stdout).toContain('it beats every allow');
  });
});

describe('policy explain HOST', () => {
  it('says which rule opens a door, and what is in the way of others', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, 'net: { allow: ["example.com:443"] }\n');
    const host = await explain<HostExplanation>('example.com:443', { policy });
    expect(host).toMatchObject({
      kind: 'host',
      host: 'example.com',
      port: 443,
      outcome: 'allow',
      rule: { source: `${policy}:1:16` },
      isReachable: true,
      allowWith: null,
    });
    expect(layersOf(host)).toEqual(['net']);
    expect(await explain<HostExplanation>('example.com:80', { policy })).toMatchObject({
      outcome: 'deny',
      rule: null,
      reason: 'no rule allows example.com',
      isReachable: false,
      isEnforced: true,
      allowWith: { flag: '--allow-net example.com:80' },
    });
  });

  it('judges an address by what it is, and by what is in it', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, 'net: { allow: ["0.0.0.0/1", "64:ff9b::/96"], deny: [metadata] }\n');
    const ask = (asked: string) => explain<HostExplanation>(asked, { policy });
    expect(await ask('10.1.2.3:80')).toMatchObject({
      outcome: 'deny',
      reason: '10.1.2.3 is a private address',
      allowWith: { policyLine: 'net: { allow: ["10.1.2.3:80"] }' },
    });
    expect(await ask('[64:ff9b::a9fe:a9fe]:80')).toMatchObject({
      outcome: 'deny',
      rule: { text: 'metadata' },
      reason: '64:ff9b::a9fe:a9fe leads to 169.254.169.254, which is denied',
      allowWith: null,
    });
    expect(await ask('[64:ff9b::808:808]:80')).toMatchObject({ outcome: 'allow' });
  });

  it('shows what requests may be', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, 'net: { allow: [{ host: a.org, methods: [GET], paths: [/v1] }] }\n');
    const { notes } = await explain<HostExplanation>('a.org:443', { policy });
    expect(notes).toEqual(['requests may be GET', 'requests may be for /v1 and below']);
  });

  it('says when a rule ends, and when it has', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(
      policy,
      "net: { allow: [{ host: a.org, for: 90 }, { host: b.org, until: '2001-01-31T12:00:00Z' }] }\n",
    );
    const lasting = await explain<HostExplanation>('a.org:443', { policy });
    expect(lasting.notes).toEqual([
      'the rule ends 90 s after the start, and its connections with it',
    ]);
    const over = await explain<HostExplanation>('b.org:443', { policy });
    expect(over).toMatchObject({ outcome: 'deny', reason: 'no rule allows b.org' });
    expect(over.notes).toEqual([
      expect.stringMatching(/^net\.allow: b\.org \(.*\) has ended at 2001-01-31T12:00:00Z$/),
    ]);
  });

  it('knows that loopback is that of the run', async () => {
    const host = await explain<HostExplanation>('127.0.0.1:80');
    expect(host).toMatchObject({ outcome: 'allow', isReachable: true });
    expect(host.notes[0]).toContain('not that of the host');
  });

  it('finds nothing in the way of a policy that allows the whole network', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, 'net: { allow: ["*"] }\n');
    const host = await explain<HostExplanation>('[2001:db8::1]:443', { policy });
    expect(host).toMatchObject({ host: '2001:db8::1', port: 443, isReachable: true, layers: [] });
  });

  it('says so when the policy refuses a host that nothing keeps out', async () => {
    const policy = join(dir, 'policy.yaml');
    writeFileSync(policy, 'net: { allow: ["*"], deny: ["example.com"] }\n');
    const host = await explain<HostExplanation>('example.com', { policy });
    expect(host).toMatchObject({ outcome: 'deny', isReachable: true, isEnforced: false });
  });

  it.each(['https://example.com/x', '*.example.com', '10.0.0.0/8', 'github', 'a.org:1-2', '127.1'])(
    'refuses %s',
    async (asked) => {
      await expect(explain(asked)).rejects.toMatchObject({ code: 'E_USAGE' });
    },
  );

  it('takes a name for a path when somebody wants to write it, or it exists', async () => {
    expect((await explain('example.com', { op: 'write' })).kind).toBe('path');
    writeFileSync(join(dir, 'example.org'), '');
    expect((await explain('example.org')).kind).toBe('path');
  });
});
