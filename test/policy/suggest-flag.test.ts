import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { decide } from '../../src/policy/decide.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { type RefusedOp, suggestAllow } from '../../src/policy/suggest-flag.ts';
import { VARIABLES } from './variables.ts';

const variables = VARIABLES;
const policy = resolvePolicy({ preset: 'coding-agent', variables });
const suggest = (op: RefusedOp, path: string) => suggestAllow(op, path, { policy, variables });

describe('suggestAllow()', () => {
  it.each([
    ['read', '/srv/data', '--allow-read /srv/data', 'fs: { read: ["/srv/data"] }'],
    [
      'write',
      '/home/ada/notes/a b',
      "--allow-write '~/notes/a b'",
      'fs: { write: ["~/notes/a b"] }',
    ],
    ['write', '/home/ada', '--allow-write ~', 'fs: { write: ["~"] }'],
    ['exec', '/home/ada/bin/x', undefined, 'fs: { exec: ["~/bin/x"] }'],
    [
      'connect',
      '/run/docker.sock',
      '--allow-unix /run/docker.sock',
      'unix: { allow: ["/run/docker.sock"] }',
    ],
    [
      'write',
      '/home/ada/work/.github/workflows/ci.yml',
      '--allow-write ./.github/workflows/ci.yml',
      'fs: { write: ["${CWD}/.github/workflows/ci.yml"] }',
    ],
    [
      'write',
      "/srv/it's [id]",
      String.raw`--allow-write '/srv/it'\''s \[id\]'`,
      String.raw`fs: { write: ["/srv/it's \\[id\\]"] }`,
    ],
    [
      'write',
      "/srv/it's\na",
      String.raw`--allow-write $'/srv/it\'s\x0aa'`,
      String.raw`fs: { write: ["/srv/it's\na"] }`,
    ],
    [
      'read',
      '/srv/x\u202ea',
      String.raw`--allow-read $'/srv/x\xe2\x80\xaea'`,
      'fs: { read: ["/srv/x\u202ea"] }',
    ],
    ['write', '/home/ada/work/.git', undefined, undefined],
    [
      'write',
      '/home/ada/work/.git/config',
      '--allow-write ./.git/config',
      'fs: { write: ["${CWD}/.git/config"] }',
    ],
    [
      'connect',
      'tcp:192.0.2.1:443',
      '--allow-net 192.0.2.1:443',
      'net: { allow: ["192.0.2.1:443"] }',
    ],
    [
      'connect',
      'tcp:[2001:db8::1]:80',
      '--allow-net [2001:db8::1]:80',
      'net: { allow: ["[2001:db8::1]:80"] }',
    ],
    ['connect', 'udp:192.0.2.53:53', '--allow-net NAME', 'net: { allow: ["NAME"] }'],
    ['connect', 'udp:192.0.2.1:9', undefined, undefined],
    ['connect', 'tcp:*', '--allow-net HOST:PORT', 'net: { allow: ["HOST:PORT"] }'],
    ['connect', 'icmp:*', undefined, undefined],
    ['connect', 'packet:*', undefined, undefined],
    ['connect', 'vsock:*', undefined, undefined],
    ['connect', 'mptcp:*', undefined, undefined],
    ['connect', 'af31:*', undefined, undefined],
  ] as const)('%s %s', (op, path, flag, policyLine) =>
    expect(suggest(op, path)).toMatchObject({ flag, policyLine }),
  );

  it('suggests nothing to add where a rule beats every allow, and names the rule', () => {
    const { flag, policyLine, refusedBy } = suggest('read', '/home/ada/.ssh/id_rsa');
    expect({ flag, policyLine }).toEqual({ flag: undefined, policyLine: undefined });
    expect(refusedBy?.origin).toMatchObject({
      source: 'preset mcp-server-minimal',
      key: 'fs.deny',
      text: '~/.ssh',
    });
  });

  it.each([
    '/srv/data',
    '/home/ada/work/.vscode/tasks.json',
    '/srv/[x]/*',
    '/home/ada/work/sub/.npmrc',
  ])('gives a line that does allow writing %s', (path) => {
    const text = `extends: [coding-agent]\n${suggest('write', path).policyLine}\n`;
    const files = { read: () => text, parse: parsePolicyText, locate: () => '/elsewhere/p.yaml' };
    const better = resolvePolicy({ file: 'p.yaml', files, variables });
    expect(decide(policy, { op: 'write', path }).outcome).toBe('deny');
    expect(decide(better, { op: 'write', path }).outcome).toBe('allow');
  });

  it.each([
    ['write', '/srv/data/new/file', '--allow-write /srv/data'],
    ['write', '/srv/data', '--allow-write /srv/data'],
    // What is granted already is refused for another reason.
    ['write', '/home/ada/work/new', undefined],
    // Not all of the home directory for one name in it.
    ['write', '/home/ada/new', '--allow-write ~/new'],
    ['write', '/new/file', '--allow-write /new/file'],
    ['write', '/home/ada/work/.vscode/tasks.json', '--allow-write ./.vscode/tasks.json'],
    ['read', '/srv/data/new', '--allow-read /srv/data/new'],
  ] as const)('%s %s, of which only the directory may be there: %s', (op, path, flag) => {
    const there = ['/', '/srv', '/srv/data', '/home', '/home/ada', '/home/ada/work'];
    const isThere = (at: string): boolean => there.includes(at);
    expect(suggestAllow(op, path, { policy, variables, isThere }).flag).toBe(flag);
  });
});
