import { describe, expect, it } from 'vitest';

import { suggestPolicy } from '../../src/artifacts/suggest-policy.ts';
import type { Evidence } from '../../src/evidence/evidence.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { FileOp } from '../../src/observe/event.ts';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { decide } from '../../src/policy/decide.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import type { FsRight, Policy } from '../../src/policy/policy.ts';
import { OPTIONS, sampleRecord } from '../evidence/sample-record.ts';

const WORK = '/home/ada/work';
const HOME = '/home/ada';
const { variables } = sampleRecord();

type Sample = NonNullable<Parameters<typeof sampleRecord>[0]>;

function file(op: FileOp, path: string, more: object = {}): Sample[number] {
  return { kind: 'file', op, path, ...more } as Sample[number];
}

function refused(op: FileOp, path: string, more: object = {}): Sample[number] {
  const decision = { rule: null, layer: 'broker' };
  return file(op, path, { outcome: 'EACCES', decision, ...more });
}

function load(text: string, where = variables): Policy {
  return resolvePolicy({
    file: 'p.yaml',
    variables: where,
    files: { read: () => text, parse: parsePolicyText, locate: (path) => `/elsewhere/${path}` },
  });
}

function run(policy: string, events: Sample, more: Partial<RunRecord> = {}): Evidence {
  const record = sampleRecord(events, more);
  const loaded = load(`api_version: assay/v1\n${policy}`, record.variables);
  return makeEvidence(record, { ...OPTIONS, policy: loaded });
}

const AGENT = 'extends: [coding-agent]\n';

describe('a suggested policy', () => {
  it('denies and protects what the policy of the run does, where that cuts into a grant', () => {
    const evidence = run(
      `${AGENT}fs: { deny: ['.env*', /srv/none, '\${CWD}/key'], protect: [prot.txt, /srv/x] }`,
      [file('create', `${WORK}/new`), refused('read', `${WORK}/.env`)],
    );
    expect(suggestPolicy(evidence).policy.fs).toEqual({
      write: ['${CWD}'],
      deny: ['${CWD}/key', '.env*'],
      protect: ['prot.txt'],
    });
  });

  it('keeps denials that cut into what every run gets, and leaves out those that cut into nothing', () => {
    const evidence = run("fs: { deny: [/usr/bin/id, /srv/x, '~/.ssh'] }", []);
    expect(suggestPolicy(evidence).policy.fs).toEqual({ deny: ['/usr/bin/id'] });
  });

  it('denies sockets that are denied', () => {
    const connect = { kind: 'network', op: 'connect', family: 'unix', host: '/srv/d/s' } as const;
    const { policy } = suggestPolicy(
      run("fs: { deny: ['/srv/d/*.key'] }\nunix: { allow: [/srv/d] }", [connect]),
    );
    expect(policy.unix).toEqual({ allow: ['/srv/d/s'] });
    expect(policy.fs).toBeUndefined();
    const wide = suggestPolicy(run('fs: { deny: [/srv/d/s/x] }', [connect]));
    expect(wide.policy.fs).toEqual({ deny: ['/srv/d/s/x'] });
  });

  it('keeps a secret in a denied name to itself and denies more for it', () => {
    const token = 'ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5';
    const { text, policy } = suggestPolicy(run(`${AGENT}fs: { deny: ['key-${token}.txt'] }`, []));
    expect(text).not.toContain(token);
    expect(policy.fs?.deny).toEqual(['key-*.txt']);
  });

  it('does not grant what a dry run did against a rule, and says so', () => {
    const { policy, text } = suggestPolicy(
      run("fs: { deny: ['~/.ssh'] }", [file('read', `${HOME}/.ssh/id_rsa`)], { mode: 'dry-run' }),
    );
    expect(policy.fs).toEqual({ read: ['${CWD}'] });
    const merged = suggestPolicy(
      run(`${AGENT}fs: { deny: [.env] }`, [file('read', `${WORK}/.env`)], { mode: 'dry-run' }),
    );
    expect(merged.text).toContain('# Not granted: ${CWD}/.env was used, and the policy of a run');
    expect(text).not.toContain('.ssh');
  });

  it('denies what the policy of any of several runs denies', () => {
    const runs = [
      run(`${AGENT}fs: { deny: ['.env*'] }`, [file('create', `${WORK}/a`)]),
      run(`${AGENT}fs: { deny: ['*.pem'] }`, [file('read', `${WORK}/.env`)]),
    ];
    const { policy, text } = suggestPolicy(runs);
    expect(policy.fs?.deny).toEqual(['*.pem', '.env*']);
    expect(text).toContain('# Not granted: ${CWD}/.env was used');
  });

  it('refuses an attempt that lies in what is granted for another reason', () => {
    const events = [
      file('rename', `${WORK}/a/x`, { target: `${WORK}/b/x` }),
      refused('write', `${WORK}/c/z`),
    ];
    const evidence = run("fs: { write: ['${CWD}/a', '${CWD}/b'], read: ['${CWD}'] }", events);
    const { policy } = suggestPolicy(evidence);
    expect(policy.fs).toEqual({ write: ['${CWD}'], protect: ['${CWD}/c/z'] });
    const other = run(AGENT, [file('write', `${WORK}/c/z`)]);
    expect(suggestPolicy([evidence, other]).policy.fs?.protect).toBeUndefined();
  });

  it.each([
    ['x ', 'x '],
    ['\\xfe', '\u00fe'],
    ['[redacted]', 'anything'],
    ['*', '*'],
  ])('refuses an attempt at a file called %j', (name, meant) => {
    const events = [
      file('rename', `${WORK}/a/x`, { target: `${WORK}/b/x` }),
      refused('write', `${WORK}/c/${name}`),
    ];
    const rules = "fs: { write: ['${CWD}/a', '${CWD}/b'], read: ['${CWD}'] }";
    const { text } = suggestPolicy(run(rules, events));
    const path = `${WORK}/c/${meant}`;
    expect(decide(load(text), { op: 'write', path }).outcome).toBe('deny');
  });

  it('folds over nothing that was refused or out of sight', () => {
    const names = ['a', 'b', 'c', 'd'].map((name) => `${HOME}/.tool/${name}`);
    const reads = names.map((path) => file('read', path));
    const policy = `fs: { read: ['~/.tool/{a,b,c,d}'] }`;
    const listed = names.map((path) => path.replace(HOME, '${HOME}'));
    for (const evidence of [
      run(policy, [...reads, refused('read', `${HOME}/.tool/e`)]),
      run(policy, reads, { hidden: [`${HOME}/.tool/e`] }),
    ])
      expect(suggestPolicy(evidence).policy.fs?.read).toEqual(listed);
    expect(suggestPolicy(run(policy, reads)).policy.fs?.read).toEqual(['${HOME}/.tool']);
  });

  it('names a new file where the policy of the run gave no more than the name', () => {
    const { policy, text } = suggestPolicy(
      run("fs: { read: ['${CWD}'], write: ['${CWD}/out/a', '${CWD}/.vscode/x.json'] }", [
        file('create', `${WORK}/out/a`),
        file('create', `${WORK}/.vscode/x.json`),
      ]),
    );
    expect(policy.fs?.write).toEqual([
      '${CWD}/.vscode/[x].json',
      '${CWD}/.vscode/x.json',
      '${CWD}/out/[a]',
    ]);
    const may = (op: FsRight, path: string): string => decide(load(text), { op, path }).outcome;
    expect(may('write', `${WORK}/out/b`)).toBe('deny');
    expect(may('write', `${WORK}/.vscode/x.json`)).toBe('allow');
    expect(may('write', `${WORK}/.vscode/tasks.json`)).toBe('deny');
  });

  it('names what the git guard keeps only where the policy of the run did', () => {
    const events = [
      file('create', `${WORK}/.git/config.lock`),
      file('rename', `${WORK}/.git/config.lock`, { target: `${WORK}/.git/config` }),
    ];
    const named = run(`${AGENT}fs: { write: ['\${CWD}/.git/config'] }`, events);
    expect(suggestPolicy(named).policy.fs?.write).toEqual(['${CWD}/.git', '${CWD}/.git/config']);
    expect(suggestPolicy(run(AGENT, events)).policy.fs?.write).toEqual(['${CWD}/.git']);
  });

  it.each([
    ['the home', HOME, { read: ['${CWD}/data'] }],
    ['above the home', '/home', { read: ['${CWD}/ada/data'] }],
    ['the root', '/', { read: ['${HOME}/data'] }],
  ])('grants of a workspace that is %s only what was used', (_, cwd, fs) => {
    const { policy, text } = suggestPolicy(
      run(AGENT, [file('read', `${HOME}/data`)], { variables: { ...variables, cwd } }),
    );
    expect(policy.fs).toEqual(fs);
    expect(text).toContain('so only what was opened in it is granted');
  });

  it('grants a workspace right below the root', () => {
    const evidence = run(AGENT, [], { variables: { ...variables, cwd: '/app' } });
    expect(suggestPolicy(evidence).policy.fs).toEqual({ read: ['${CWD}'] });
  });

  it('grants links of a broad workspace with what they lead to', () => {
    const read = file('read', '/srv/x', { requested: 'link' });
    const evidence = run(AGENT, [read], { variables: { ...variables, cwd: HOME } });
    expect(suggestPolicy(evidence).policy.fs?.read).toEqual(['${CWD}/link', '/srv/x']);
  });

  it('joins no move in a directory that is too broad', () => {
    const { policy, text } = suggestPolicy(
      run("fs: { write: ['~/.config'] }", [
        file('rename', `${HOME}/.config/a/x`, { target: `${HOME}/.config/b/x` }),
      ]),
    );
    expect(policy.fs?.write).toEqual(['${HOME}/.config/a', '${HOME}/.config/b']);
    expect(text).toContain('# Not granted: moving from');
  });

  it('shows of the workspace what the policy of the run showed', () => {
    const evidence = run("fs: { read: ['${CWD}/src'] }", []);
    expect(suggestPolicy(evidence).policy.fs).toEqual({ read: ['${CWD}/src'] });
  });

  it.each([
    ['its directory', '/srv/d', '/srv/d', '# Granted as a whole, since a part of a name'],
    ['a wildcard', '/srv/d/k-*', '/srv/d/k-*.txt', '# A part of some names is hidden, and a'],
  ])('grants a name with a hidden part by %s', (_, allowed, granted, comment) => {
    const write = file('write', '/srv/d/k-[redacted:0123456789abcdef].txt');
    const { policy, text } = suggestPolicy(run(`fs: { write: ['${allowed}'] }`, [write]));
    expect(policy.fs?.write).toEqual([granted]);
    expect(text).toContain(comment);
  });

  it('counts nothing as writable that it protects', () => {
    const evidence = run(`${AGENT}fs: { protect: [prot.txt] }`, [
      file('create', `${WORK}/new`),
      file('read', `${WORK}/prot.txt`),
    ]);
    expect(suggestPolicy(evidence).tightness.writeRatio).toBe(1);
  });

  it.each([
    ['a name', 'evil.example.org', undefined],
    ['an address, to which a name may lead', '203.0.113.0/24', ['203.0.113.0/24']],
    ['a range of all, which is the default', '0.0.0.0/0', undefined],
    ['a port that is not used', '25', undefined],
    ['a set of addresses', 'metadata', ['metadata']],
    ['a wildcard', '*.example.org:443', ['*.example.org:443']],
  ])('denies in the network %s as far as it cuts in', (_, entry, wanted) => {
    const connect = {
      kind: 'network',
      op: 'connect',
      family: 'tcp',
      host: 'packages.example.org',
      port: 443,
    } as const;
    const rules = `net: { allow: [packages.example.org], deny: ['${entry}'] }`;
    expect(suggestPolicy(run(rules, [connect])).policy.net?.deny).toEqual(wanted);
  });

  it('denies destinations in the network of the host', () => {
    const away = { kind: 'network', op: 'connect', family: 'tcp', host: '192.0.2.7', port: 443 };
    const { policy, text } = suggestPolicy(
      run("net: { allow: ['*'], deny: [evil.example.org] }", [away as Sample[number]], {
        network: 'host',
      }),
    );
    expect(policy.net).toEqual({ allow: ['*'], deny: ['evil.example.org'] });
    expect(text).toContain('# Nothing enforces net.deny in the network of the host');
  });
});
