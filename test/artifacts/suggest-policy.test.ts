import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { suggestPolicy } from '../../src/artifacts/suggest-policy.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { FileOp } from '../../src/observe/event.ts';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { decideNet } from '../../src/policy/decide-net.ts';
import { decide } from '../../src/policy/decide.ts';
import type { Host } from '../../src/policy/host.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { isLiteral, matchPattern, unescapeLiteral } from '../../src/policy/glob.ts';
import type { FsRight, Policy } from '../../src/policy/policy.ts';
import { OPTIONS, sampleProgram, sampleRecord } from '../evidence/sample-record.ts';

const WORK = '/home/ada/work';
const HOME = '/home/ada';

type Sample = NonNullable<Parameters<typeof sampleRecord>[0]>;

function file(op: FileOp, path: string, more: object = {}): Sample[number] {
  return { kind: 'file', op, path, ...more } as Sample[number];
}

function suggest(events: Sample, more: Partial<RunRecord> = {}) {
  return suggestPolicy(makeEvidence(sampleRecord(events, more), OPTIONS));
}

/** As `--policy` loads it. */
function load(text: string, name = 'suggested.yaml'): Policy {
  return resolvePolicy({
    file: name,
    variables: sampleRecord().variables,
    files: {
      read: () => text,
      parse: parsePolicyText,
      locate: (path) => `/elsewhere/${path}`,
    },
  });
}

function may(policy: Policy, op: FsRight, path: string): boolean {
  const { tmpdir } = sampleRecord().variables;
  return decide(policy, { op, path, tmpdir }).outcome === 'allow';
}

/** What Landlock gives: a grant for a place that is not there at the start is none. */
function isGranted(policy: Policy, path: string, there: (path: string) => boolean): boolean {
  return policy.fs.some(
    ({ effect, rights, pattern, isSystem }) =>
      effect === 'allow' &&
      rights.includes('write') &&
      (isSystem === true || !isLiteral(pattern) || there(unescapeLiteral(pattern))) &&
      matchPattern(pattern, path),
  );
}

describe('suggestPolicy()', () => {
  it('grants the hosts that a run in a network of its own has reached, by name and port', () => {
    const connect = (host: string, port: number, more: object = {}): Sample[number] =>
      ({ kind: 'network', op: 'connect', family: 'tcp', host, port, ...more }) as Sample[number];
    const { policy, text } = suggest(
      [
        connect('packages.example.org', 443),
        connect('203.0.113.9', 5432),
        connect('2001:db8::9', 80),
        connect('npm', 80),
        connect('refused.example.org', 443, { outcome: 'EACCES' }),
      ],
      { network: 'private' },
    );
    expect(policy.net?.allow).toEqual([
      '203.0.113.9:5432',
      '[2001:db8::9]:80',
      'npm.:80',
      'packages.example.org:443',
    ]);
    const decideAt = (host: Host, port: number): string =>
      decideNet(load(text), { host, port }).outcome;
    expect(decideAt({ name: 'packages.example.org' }, 443)).toBe('allow');
    expect(decideAt({ name: 'packages.example.org' }, 80)).toBe('deny');
    expect(decideAt({ name: 'npm' }, 80)).toBe('allow');
  });

  it('grants a file that was written in place, and no more', () => {
    const { policy, text } = suggest([file('write', `${WORK}/notes.txt`)]);
    expect(policy.fs).toEqual({ read: ['${CWD}'], write: ['${CWD}/notes.txt'] });
    expect(may(load(text), 'write', `${WORK}/other.txt`)).toBe(false);
  });

  it('grants the directory of a file that was made, moved or removed', () => {
    for (const event of [
      file('create', `${WORK}/out/a`),
      file('unlink', `${WORK}/out/a`),
      file('rename', `${WORK}/out/a`, { target: `${WORK}/out/b` }),
      file('symlink', `${WORK}/out/a`, { target: 'x' }),
    ])
      expect(suggest([event]).policy.fs?.write).toEqual(['${CWD}/out']);
  });

  it('grants the nearest directory that was there before the run', () => {
    const { policy } = suggest([
      file('mkdir', `${WORK}/dist`, { isDirectory: true }),
      file('mkdir', `${WORK}/dist/lib`, { isDirectory: true }),
      file('create', `${WORK}/dist/lib/a.js`),
      file('create', `${WORK}/src/gen/x.ts`),
    ]);
    expect(policy.fs?.write).toEqual(['${CWD}']);
  });

  it('stays short when very many directories were written in', () => {
    const events = Array.from({ length: 3000 }, (_, index) =>
      file('create', `${WORK}/packages/p${index % 500}/lib/d${index}/x`),
    );
    const { policy } = suggest([...events, file('create', `${WORK}/out/x`)]);
    expect(policy.fs?.write).toEqual(['${CWD}/out', '${CWD}/packages']);
  });

  it('grants one place for both ends of a move', () => {
    const { policy } = suggest([
      file('create', `${WORK}/a/tmp/x`),
      file('rename', `${WORK}/a/tmp/x`, { target: `${WORK}/a/out/x` }),
    ]);
    expect(policy.fs?.write).toEqual(['${CWD}/a']);
  });

  it('folds reads outside the workspace by the stated rule', () => {
    const reads = (names: string): Sample =>
      names.split('').map((name) => file('read', `${HOME}/.tool/${name}`));
    expect(suggest(reads('abc')).policy.fs?.read).toEqual([
      '${CWD}',
      '${HOME}/.tool/a',
      '${HOME}/.tool/b',
      '${HOME}/.tool/c',
    ]);
    expect(suggest(reads('abcd')).policy.fs?.read).toEqual(['${CWD}', '${HOME}/.tool']);
  });

  it('never grants the home, whatever was used in it', () => {
    const { policy, text } = suggest([
      ...['.gitconfig', '.npmrc', '.a', '.b', '.c'].map((name) => file('read', `${HOME}/${name}`)),
      file('read', HOME, { isDirectory: true }),
      file('create', `${HOME}/.tool.json`),
      file('create', `${HOME}/.tool.json.Xy12Qz34`),
      file('rename', `${HOME}/.tool.json.Xy12Qz34`, { target: `${HOME}/.tool.json` }),
    ]);
    const loaded = load(text);
    expect(policy.fs?.read).toContain('${HOME}/.gitconfig');
    expect(may(loaded, 'write', `${HOME}/.tool.json`)).toBe(true);
    expect(may(loaded, 'write', `${HOME}/.tool.json.Xy12Qz34`)).toBe(true);
    expect(may(loaded, 'read', `${HOME}/.ssh/id_rsa`)).toBe(false);
    expect(may(loaded, 'write', `${HOME}/.other`)).toBe(false);
    expect(text).toContain('# Not granted: ${HOME} was looked at');
  });

  it('does not grant what was refused', () => {
    const { policy } = suggest([
      file('write', `${WORK}/x`, {
        outcome: 'EACCES',
        decision: { rule: null, layer: 'broker' },
      }),
      file('read', `${HOME}/.ssh/id_rsa`, {
        outcome: 'EACCES',
        decision: { rule: null, layer: 'kernel' },
      }),
    ]);
    expect(policy.fs).toEqual({ read: ['${CWD}'] });
  });

  it('leaves out what the baseline and the private tmp give', () => {
    const { policy } = suggest([
      file('read', '/usr/lib/libc.so.6'),
      file('read', '/etc/passwd'),
      file('write', '/dev/null'),
      file('create', '/tmp/x'),
      file('create', '/dev/shm/y'),
      file('read', '/proc/self/maps'),
    ]);
    expect(policy).toEqual({ api_version: 'assay/v1', fs: { read: ['${CWD}'] } });
  });

  it('names protected configuration that was written', () => {
    const { policy, text } = suggest([
      file('write', `${WORK}/.vscode/settings.json`),
      file('create', `${WORK}/src/a.ts`),
    ]);
    const loaded = load(text);
    expect(policy.fs?.write).toEqual(['${CWD}/.vscode/settings.json', '${CWD}/src']);
    expect(may(loaded, 'write', `${WORK}/.vscode/settings.json`)).toBe(true);
    expect(may(loaded, 'write', `${WORK}/.vscode/tasks.json`)).toBe(false);
  });

  it('lets programs and libraries of the workspace be executed', () => {
    const { policy } = suggest([file('read', `${WORK}/node_modules/x/build/x.node`)], {
      programs: [
        sampleProgram({ id: 1, image: '/usr/bin/dash' }),
        sampleProgram({ id: 2, image: `${WORK}/bin/tool`, parent: 1 }),
        sampleProgram({ id: 3, image: '/usr/bin/node', script: `${WORK}/cli.js`, parent: 1 }),
      ],
    });
    expect(policy.fs).toEqual({
      read: ['${CWD}'],
      exec: ['${CWD}/bin/tool', '${CWD}/cli.js', '${CWD}/node_modules/x/build/x.node'],
    });
  });

  it('lets libraries be executed whatever their version looks like', () => {
    const names = ['libx.so', 'libx.so.1.2', 'libx.so.22.1-rust-1.95.0-stable'];
    const { policy } = suggest(
      [...names, 'libx.so.txt', 'libx.sources'].map((name) => file('read', `${WORK}/lib/${name}`)),
    );
    expect(policy.fs?.exec).toEqual(names.map((name) => `\${CWD}/lib/${name}`));
  });

  it('lets a program be executed that the run has built', () => {
    const { policy } = suggest([file('create', `${WORK}/a.out`)], {
      programs: [sampleProgram({ id: 1, image: `${WORK}/a.out` })],
    });
    expect(policy.fs).toEqual({ allow: ['${CWD}'] });
  });

  it('lets a program be executed that never had a name, in its directory', () => {
    const programs = [sampleProgram({ id: 1, image: `${WORK}/bin/#4711 (deleted)` })];
    expect(suggest([], { programs }).policy.fs?.exec).toEqual(['${CWD}/bin']);
  });

  it('passes variables that a run does not get by itself', () => {
    const environment = { passed: ['PATH', 'GITHUB_TOKEN', 'NODE_OPTIONS', 'FOO'], removed: [] };
    expect(suggest([], { environment }).policy.env).toEqual({
      allow: ['GITHUB_TOKEN', 'NODE_OPTIONS'],
    });
  });

  it('grants an address as well that a name led to and that is not of the internet', () => {
    const connect = (host: string): Sample[number] =>
      ({ kind: 'network', op: 'connect', family: 'tcp', host, port: 443 }) as Sample[number];
    const totals = {
      count: 1,
      refused: 0,
      sent: 0,
      received: 0,
      durationMs: 0,
      doors: [],
      rules: [],
      notes: [],
    };
    const led = (name: string, ...addresses: string[]) => ({
      ...totals,
      endpoint: `tcp:${name}:443`,
      addresses,
    });
    const connections = [
      led('in.example.org', '10.1.2.3', 'fd00::7'),
      led('example.org', '1.1.1.1'),
    ];
    const { policy } = suggest([connect('in.example.org'), connect('example.org')], {
      network: 'private',
      egress: { connections, hints: new Map() },
    });
    expect(policy.net?.allow).toEqual([
      '10.1.2.3:443',
      '[fd00::7]:443',
      'example.org:443',
      'in.example.org:443',
    ]);
  });

  it('grants sockets outside, and the network when it was used', () => {
    const connect = (more: object): Sample[number] =>
      ({ kind: 'network', op: 'connect', ...more }) as Sample[number];
    const local = connect({ family: 'tcp', host: '127.0.0.1', port: 8080 });
    const away = connect({ family: 'tcp', host: '192.0.2.7', port: 443 });
    const socket = connect({ family: 'unix', host: '/run/db.sock' });
    expect(suggest([local]).policy.net).toEqual({ allow: ['127.0.0.1', 'localhost'] });
    expect(suggest([away], { network: 'host' }).policy.net).toEqual({ allow: ['*'] });
    expect(suggest([socket]).policy.unix).toEqual({ allow: ['/run/db.sock'] });
  });

  it('unites several runs', () => {
    const runs = ['a', 'b'].map((name) =>
      makeEvidence(sampleRecord([file('write', `${WORK}/${name}`)]), OPTIONS),
    );
    expect(suggestPolicy(runs).policy.fs?.write).toEqual(['${CWD}/a', '${CWD}/b']);
  });

  it('says how tight it is', () => {
    const { tightness, text } = suggest([
      file('create', `${WORK}/out/a`),
      file('read', `${WORK}/out/b`),
    ]);
    expect(tightness).toMatchObject({ entries: 2, used: 2, writeRatio: 2 });
    expect(text).toMatch(/^# .*Tightness: 2 entries for 2 files used/m);
  });

  it('is the same policy in JSON', () => {
    const evidence = makeEvidence(sampleRecord([file('create', `${WORK}/out/a`)]), OPTIONS);
    const { text, policy } = suggestPolicy(evidence, 'json');
    expect(JSON.parse(text)).toEqual(policy);
    expect(may(load(text, 'p.json'), 'write', `${WORK}/out/a`)).toBe(true);
  });

  it.each([
    'a b',
    "it's",
    '"',
    '\\',
    '$HOME',
    '${CWD}',
    '*',
    '?x[y]',
    '{a,b}',
    '!x',
    '~',
    '#c',
    '- x',
    ': y',
    'line\nbreak',
    '\u001b[31m',
    '🦊',
    '<*>',
  ])('holds for files called %j', (name) => {
    const path = `${WORK}/dir/${name}`;
    const { text } = suggest([file('write', path), file('read', `${HOME}/.x/${name}`)]);
    const loaded = load(text);
    expect(may(loaded, 'write', path)).toBe(true);
    expect(may(loaded, 'read', `${HOME}/.x/${name}`)).toBe(true);
    expect(may(loaded, 'write', `${WORK}/dir/other`)).toBe(false);
    expect(may(loaded, 'read', `${HOME}/.x/other`)).toBe(false);
  });

  it.each(['\u2028', 'x ', 'x\t', '\\xff'])(
    'grants the directory of files called %j, which no entry can name',
    (name) => {
      const { policy } = suggest([file('write', `${WORK}/dir/${name}`)]);
      expect(policy.fs?.write).toEqual(['${CWD}/dir']);
    },
  );

  describe('of a run whose reads were not watched', () => {
    const coverage = {
      ...sampleRecord().coverage,
      reads: { status: 'absent', reasons: ['not watched'] },
    } as const;
    const suggestUnder = (fs: string, events: Sample = []) => {
      const policy = load(`api_version: assay/v1\nfs: ${fs}\n`);
      const record = sampleRecord(events, { level: 'effects', coverage });
      return suggestPolicy(makeEvidence(record, { ...OPTIONS, policy })).policy.fs;
    };

    it.each([
      [
        'the workspace, though nothing in it was written',
        '{ read: ["${CWD}"] }',
        { read: ['${CWD}'] },
      ],
      [
        'the workspace, where all above it may be read',
        '{ read: ["/home"] }',
        { read: ['${CWD}'] },
      ],
      [
        'the workspace, where something in it is denied',
        '{ exec: ["${CWD}"], deny: ["${CWD}/x"] }',
        { exec: ['${CWD}'], deny: ['${CWD}/x'] },
      ],
      [
        'places to read and to execute',
        '{ read: [/srv/a], exec: [/srv/b] }',
        { read: ['/srv/a'], exec: ['/srv/b'] },
      ],
      ['places to write, for reading', '{ write: [/srv/a] }', { read: ['/srv/a'] }],
      [
        'many places of one directory, each by itself',
        '{ read: [/srv/x/a, /srv/x/b, /srv/x/c, /srv/x/d] }',
        { read: ['/srv/x/a', '/srv/x/b', '/srv/x/c', '/srv/x/d'] },
      ],
      [
        'a place in which something is denied, without that',
        '{ read: [/srv/a], deny: [/srv/a/secret] }',
        { read: ['/srv/a'], deny: ['/srv/a/secret'] },
      ],
      ['nothing that is too broad', '{ read: ["~", "~/.config"] }', { read: ['${CWD}'] }],
      ['no wildcards', '{ read: ["/srv/*.txt"] }', undefined],
    ])('keeps %s', (_, fs, wanted) => {
      expect(suggestUnder(fs)).toEqual(wanted);
    });

    it('grants what was written besides', () => {
      const fs = suggestUnder('{ allow: ["${CWD}"] }', [file('create', `${WORK}/new`)]);
      expect(fs).toEqual({ allow: ['${CWD}'] });
    });
  });

  it('allows all that was used, by grants that are there at the start', () => {
    const names = ['a', 'b', 'c.lock', '.vscode'];
    const path = fc
      .tuple(
        fc.constantFrom(WORK, `${HOME}/.tool`, `${HOME}`, '/srv/data/x'),
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
      )
      .map(([root, parts]) => `${root}/${parts.join('/')}`);
    const event = fc.oneof(
      fc.record({
        op: fc.constantFrom<FileOp>('read', 'write', 'create', 'mkdir', 'unlink', 'chmod'),
        path,
      }),
      fc.record({ op: fc.constantFrom<FileOp>('rename', 'link'), path, target: path }),
    );
    const isPossible = (one: { path: string; target?: string }): boolean =>
      one.target === undefined ||
      !(`${one.path}/`.startsWith(`${one.target}/`) || one.target.startsWith(`${one.path}/`));
    fc.assert(
      fc.property(fc.array(event.filter(isPossible), { maxLength: 12 }), (events) => {
        const { text } = suggest(events.map((one) => file(one.op, one.path, one)));
        const loaded = load(text);
        const born = new Set<string>();
        for (const one of events) {
          if (['create', 'mkdir', 'unlink', 'rename'].includes(one.op)) born.add(one.path);
          if ('target' in one) born.add(one.target);
        }
        const there = (place: string): boolean =>
          ![...born].some((one) => place === one || place.startsWith(`${one}/`));
        for (const one of events) {
          const isRead = one.op === 'read';
          expect(may(loaded, isRead ? 'read' : 'write', one.path)).toBe(true);
          if (!isRead) expect(isGranted(loaded, one.path, there)).toBe(true);
          if ('target' in one) expect(isGranted(loaded, one.target, there)).toBe(true);
        }
        expect(may(loaded, 'read', `${HOME}/.ssh/id_rsa`)).toBe(false);
        expect(may(loaded, 'write', '/etc/passwd')).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
