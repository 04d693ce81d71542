import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/evidence/diff/difference.ts';
import {
  change,
  compareDrafts,
  coverage,
  degraded,
  environment,
  type EventDraft,
  file,
  finished,
  folded,
  layers,
  limit,
  network,
  policy,
  program,
  started,
  WATCHED,
} from './make-sides.ts';

type Row = readonly [
  what: string,
  before: readonly EventDraft[],
  after: readonly EventDraft[],
  kinds: readonly Kind[],
  /** How the subject changed; undefined when there is no difference at all. */
  change: 'new' | 'gone' | 'changed' | undefined,
];

const RULE = 'fs.deny: ${HOME}/.ssh';
const DENIED = { outcome: 'EACCES', refused_by: RULE };
const ALLOW = { fs: { read: ['/a'], deny: ['/s'] }, limits: { pids: 10 }, env: { mode: 'scrub' } };
const HOST = 'tcp:203.0.113.7:443';

const ROWS: readonly Row[] = [
  ['a new endpoint', [], [network('connect', HOST)], ['new-host', 'new-endpoint'], 'new'],
  [
    'one that failed',
    [],
    [network('connect', HOST, { outcome: 'ECONNREFUSED' })],
    ['new-host', 'new-endpoint'],
    'new',
  ],
  [
    'one on another port',
    [network('connect', HOST)],
    [network('connect', HOST), network('connect', 'tcp:203.0.113.7:22')],
    ['new-host', 'new-endpoint'],
    'new',
  ],
  [
    'a known one by another program',
    [network('connect', HOST)],
    [network('connect', HOST), network('connect', HOST, { program: '/usr/bin/curl' })],
    [],
    'changed',
  ],
  [
    'a known one that now fails',
    [network('connect', HOST)],
    [network('connect', HOST, { outcome: 'ETIMEDOUT' })],
    [],
    'changed',
  ],
  ['one that is gone', [network('connect', HOST)], [], [], 'gone'],
  ['loopback', [], [network('connect', 'tcp:127.0.0.1:80')], ['new-endpoint'], 'new'],
  ['loopback in a bracket', [], [network('connect', 'tcp:[::1]:80')], ['new-endpoint'], 'new'],
  [
    'an address that only starts like loopback',
    [],
    [network('connect', 'tcp:[::1234]:80')],
    ['new-host', 'new-endpoint'],
    'new',
  ],
  [
    'a socket of the machine',
    [],
    [network('connect', 'unix:/run/docker.sock')],
    ['new-host', 'new-endpoint'],
    'new',
  ],
  ['a socket of the run', [], [network('connect', 'unix:${TMPDIR}/s')], ['new-endpoint'], 'new'],
  ['listening', [], [network('bind', 'tcp:0.0.0.0:80')], ['new-endpoint'], 'new'],
  ['a refused connection', [], [network('connect', HOST, DENIED)], ['new-denial'], 'new'],

  ['a write outside', [], [file('write', '${HOME}/notes')], ['new-write-outside'], 'new'],
  ['a write in the workspace', [], [file('write', '${CWD}/notes')], [], 'new'],
  ['a write in the private tmp', [], [file('write', '${TMPDIR}/notes')], [], 'new'],
  [
    'a write above the workspace',
    [],
    [file('write', '${CWD}/../notes')],
    ['new-write-outside'],
    'new',
  ],
  [
    'a write beside the workspace',
    [],
    [file('write', '${CWD}-2/notes')],
    ['new-write-outside'],
    'new',
  ],
  ['a read outside', [], [file('read', '/etc/hosts')], [], 'new'],
  [
    'a write outside that failed',
    [],
    [file('write', '/etc/hosts', { outcome: 'EROFS' })],
    [],
    'new',
  ],
  ['a write to a device', [], [file('write', '/dev/null')], [], 'new'],
  [
    'a known write by another program',
    [file('write', '/srv/a')],
    [file('write', '/srv/a', { program: '/usr/bin/tee' })],
    [],
    'changed',
  ],
  [
    'a write where there was a read',
    [file('read', '/srv/a')],
    [file('read', '/srv/a'), file('write', '/srv/a')],
    ['new-write-outside'],
    'changed',
  ],
  [
    'a removal where there was a write',
    [file('write', '/srv/a')],
    [file('write', '/srv/a'), file('unlink', '/srv/a')],
    ['new-write-outside'],
    'changed',
  ],
  [
    'a move to the outside',
    [],
    [file('rename', '${CWD}/a', { target: '/srv/a' })],
    ['new-write-outside'],
    'new',
  ],
  [
    'a move to another place outside',
    [file('rename', '${CWD}/a', { target: '/srv/a' })],
    [file('rename', '${CWD}/a', { target: '/srv/b' })],
    ['new-write-outside'],
    'changed',
  ],
  ['a move inside', [], [file('rename', '${CWD}/a', { target: '${CWD}/b' })], [], 'new'],
  ['a link to a file outside', [], [file('link', '/srv/a', { target: '${CWD}/a' })], [], 'new'],
  [
    'a file that was left behind outside',
    [],
    [change('created', '/srv/a')],
    ['new-write-outside'],
    'new',
  ],
  [
    'a directory that was left behind outside',
    [],
    [change('created', '/srv/a/')],
    ['new-write-outside'],
    'new',
  ],
  [
    'one that was there before',
    [change('created', '/srv/a')],
    [change('modified', '/srv/a')],
    [],
    'changed',
  ],
  ['a file that was left behind inside', [], [change('created', '${CWD}/a')], [], 'new'],
  [
    'a write to configuration',
    [],
    [file('write', '${CWD}/.git/hooks/pre-commit')],
    ['new-write-config'],
    'new',
  ],
  ['a read of configuration', [], [file('read', '${CWD}/.git/hooks/pre-commit')], [], 'new'],
  [
    'a move over configuration',
    [],
    [file('rename', '${CWD}/x', { target: '${CWD}/.vscode/tasks.json' })],
    ['new-write-config'],
    'new',
  ],
  [
    'configuration outside',
    [],
    [file('write', '${HOME}/.bashrc')],
    ['new-write-outside', 'new-write-config'],
    'new',
  ],
  ['a file that is gone', [file('write', '/srv/a')], [], [], 'gone'],
  [
    'another outcome',
    [file('read', '${CWD}/a', { outcome: 'ENOENT' })],
    [file('read', '${CWD}/a')],
    [],
    'changed',
  ],
  ['a file of the system', [], [file('read', '/usr/lib/a.so', { system: true })], [], 'new'],

  ['a new program', [], [program('/usr/bin/curl')], ['new-program'], 'new'],
  [
    'a program that could not be run',
    [],
    [file('exec', '/usr/bin/nothing', { outcome: 'ENOENT' })],
    [],
    'new',
  ],
  [
    'a known program that is started by another',
    [program('/usr/bin/git')],
    [program('/usr/bin/git'), program('/usr/bin/git', { program: '/usr/bin/sh' })],
    ['changed-program'],
    'changed',
  ],
  [
    'a new script',
    [program('/usr/bin/sh')],
    [program('/usr/bin/sh'), program('/usr/bin/sh', { target: '${CWD}/evil' })],
    ['new-program', 'changed-program'],
    'changed',
  ],
  [
    'the same script by another parent',
    [program('/usr/bin/sh', { target: '${CWD}/a' })],
    [program('/usr/bin/sh', { target: '${CWD}/a', program: '/usr/bin/make' })],
    ['changed-program'],
    'changed',
  ],
  [
    'another image of the workspace',
    [program('${CWD}/a', { digest: 'aa' })],
    [program('${CWD}/a', { digest: 'bb' })],
    ['changed-program'],
    'changed',
  ],
  [
    'another image of the system',
    [program('/usr/bin/a', { image_digests: ['sha256:aa'] })],
    [program('/usr/bin/a', { image_digests: ['sha256:bb'] })],
    ['changed-program'],
    'changed',
  ],
  ['a program that is gone', [program('/usr/bin/git')], [], [], 'gone'],

  ['a new refusal', [], [file('read', '${HOME}/.ssh/id', DENIED)], ['new-denial'], 'new'],
  [
    'the same by another program',
    [file('read', '${HOME}/.ssh/id', DENIED)],
    [file('read', '${HOME}/.ssh/id', { ...DENIED, program: '/usr/bin/cat' })],
    [],
    'changed',
  ],
  [
    'another attempt at the same',
    [file('read', '${HOME}/.ssh/id', DENIED)],
    [file('read', '${HOME}/.ssh/id', DENIED), file('write', '${HOME}/.ssh/id', DENIED)],
    ['new-denial'],
    'changed',
  ],
  [
    'one by another rule',
    [file('read', '${HOME}/.ssh/id', DENIED)],
    [file('read', '${HOME}/.ssh/id', { ...DENIED, refused_by: '' })],
    [],
    'changed',
  ],
  ['a refusal that is gone', [file('read', '${HOME}/.ssh/id', DENIED)], [], [], 'gone'],
  [
    'a failure that is no refusal',
    [],
    [file('read', '${HOME}/.ssh/id', { outcome: 'EACCES' })],
    [],
    'new',
  ],
  ['a refused write outside', [], [file('write', '/srv/a', DENIED)], ['new-denial'], 'new'],

  [
    'less coverage',
    [coverage({ reads: 'complete' })],
    [coverage({ reads: 'partial' }, 'dropped')],
    ['coverage-loss'],
    'changed',
  ],
  [
    'more coverage',
    [coverage({ reads: 'partial' }, 'dropped')],
    [coverage({ reads: 'complete' })],
    [],
    'changed',
  ],
  [
    'the same with one more gap',
    [coverage({ reads: 'partial' })],
    [coverage({ reads: 'partial' }, 'dropped')],
    ['coverage-loss'],
    'changed',
  ],
  [
    'the same with one gap less',
    [coverage({ reads: 'partial' }, 'dropped')],
    [coverage({ reads: 'partial' })],
    [],
    'changed',
  ],
  [
    'a surface that is not spoken of',
    [coverage({ reads: 'complete' })],
    [],
    ['coverage-loss'],
    'gone',
  ],
  [
    'a directory that was too full',
    [],
    [folded('read', '${CWD}/a', 'aa')],
    ['coverage-loss'],
    'new',
  ],
  [
    'one outside that was written',
    [],
    [folded('write', '/srv/a', 'aa')],
    ['new-write-outside', 'coverage-loss'],
    'new',
  ],
  [
    'other names in one outside',
    [folded('write', '/srv/a', 'aa')],
    [folded('write', '/srv/a', 'bb')],
    ['new-write-outside'],
    'changed',
  ],
  [
    'other names in one inside',
    [folded('write', '${CWD}/a', 'aa')],
    [folded('write', '${CWD}/a', 'bb')],
    [],
    'changed',
  ],
  [
    'reads no longer watched',
    [started()],
    [started({ level: 'writes' })],
    ['coverage-loss'],
    'changed',
  ],
  ['reads now watched', [started({ level: 'writes' })], [started()], [], 'changed'],

  ['a new degradation', [], [degraded('fs.deny: /a', 'no layer')], ['degradation'], 'new'],
  [
    'a degradation for another reason',
    [degraded('fs.deny: /a', 'no layer')],
    [degraded('fs.deny: /a', 'no mount')],
    ['degradation'],
    'changed',
  ],
  ['a degradation that is gone', [degraded('fs.deny: /a', 'no layer')], [], [], 'gone'],
  ['a dry run', [started()], [started({ mode: 'dry-run' })], ['degradation'], 'changed'],
  ['no dry run any more', [started({ mode: 'dry-run' })], [started()], [], 'changed'],
  [
    'a layer that is gone',
    [layers({ landlock: 'enforced' })],
    [layers({ landlock: 'absent' })],
    ['layer-loss'],
    'changed',
  ],
  [
    'a layer that has come',
    [layers({ landlock: 'partial' })],
    [layers({ landlock: 'enforced' })],
    [],
    'changed',
  ],

  [
    'a variable that is passed',
    [environment(['PATH'])],
    [environment(['PATH', 'TOKEN'])],
    ['new-environment'],
    'new',
  ],
  [
    'one that was removed before',
    [environment([], ['TOKEN'])],
    [environment(['TOKEN'])],
    ['new-environment'],
    'changed',
  ],
  ['one that is removed', [environment(['TOKEN'])], [environment([], ['TOKEN'])], [], 'changed'],

  [
    'another command',
    [started()],
    [started({ command: ['make', 'all'] })],
    ['command-change'],
    'changed',
  ],
  [
    'the same words, split otherwise',
    [started({ command: ['a b'] })],
    [started({ command: ['a', 'b'] })],
    ['command-change'],
    'changed',
  ],
  [
    'the whole network',
    [started()],
    [started({ network: 'host' })],
    ['policy-weakened', 'policy-change'],
    'changed',
  ],
  ['less network', [started()], [started({ network: 'none' })], ['policy-change'], 'changed'],
  ['another exit code', [finished()], [finished({ exit_code: 1 })], ['end-change'], 'changed'],
  ['a signal', [finished()], [finished({ signal: 9 })], ['end-change'], 'changed'],
  ['a timeout', [finished()], [finished({ timed_out: true })], ['end-change'], 'changed'],
  ['a limit that was hit', [], [limit('memory')], ['end-change'], 'new'],

  [
    'another policy name',
    [policy(ALLOW, 'd')],
    [policy(ALLOW, 'd', { name: 'q.yaml' })],
    [],
    'changed',
  ],
  [
    'another place for programs',
    [policy(ALLOW, 'd')],
    [policy(ALLOW, 'd', { toolchain: ['/opt'] })],
    [],
    'new',
  ],
  [
    'what it knows nothing about',
    [{ type: 'x.y', data: 1 }],
    [{ type: 'x.y', data: 2 }],
    [],
    'changed',
  ],
];

describe('compareBundles()', () => {
  it.each(ROWS)('%s', (_, before, after, kinds, how) => {
    const base = [program('/usr/bin/make'), file('write', '${CWD}/out')];
    const { differences } = compareDrafts([...base, ...before], [...base, ...after]);
    expect(differences.map((one) => ({ change: one.change, kinds: one.kinds }))).toEqual(
      how === undefined ? [] : [{ change: how, kinds }],
    );
  });

  it('finds nothing in bundles that differ in times only, whatever is in them', () => {
    const all = ROWS.flatMap(([, before, after]) => [...before, ...after]);
    const { differences, counts } = compareDrafts(all, all);
    expect(differences).toEqual([]);
    expect(counts).toEqual({});
  });

  it('counts loopback as a host where it is that of the machine', () => {
    const before = [started({ network: 'host' })];
    const uses = [network('connect', 'tcp:127.0.0.1:80'), network('bind', 'tcp:0.0.0.0:80')];
    const { counts } = compareDrafts(before, [...before, ...uses]);
    expect(counts).toEqual({ 'new-host': 2, 'new-endpoint': 2 });
  });

  it('keeps apart what another separator would join', () => {
    const { differences } = compareDrafts(
      [file('read', 'a', { program: 'b\0c' })],
      [file('read', 'a\0b', { program: 'c' })],
    );
    expect(differences).toHaveLength(2);
  });

  it('does not count what the machine has read as a difference of the run', () => {
    const { differences } = compareDrafts([], [file('read', '/usr/lib/a.so', { system: true })]);
    expect(differences.map(({ group }) => group)).toEqual(['system-reads']);
  });
});

describe('the doubts of a comparison', () => {
  it('are none when everything was watched', () => {
    expect(compareDrafts([WATCHED], [WATCHED]).doubts).toEqual([]);
  });

  it('name what was not watched, and where', () => {
    const partial = coverage({ reads: 'complete', network: 'absent' }, 'no broker');
    expect(compareDrafts([WATCHED], [partial]).doubts).toEqual([
      'network of the candidate: absent (no broker)',
    ]);
  });
});

describe('a policy', () => {
  const compare = (content: unknown): Record<string, readonly Kind[]> =>
    Object.fromEntries(
      compareDrafts([policy(ALLOW, 'a')], [policy(content, 'b')]).differences.map(
        ({ subject, kinds }) => [subject, kinds],
      ),
    );
  const digest = ['policy-change'];
  const weaker = ['policy-weakened', 'policy-change'];

  it.each([
    ['allows more', { ...ALLOW, fs: { read: ['/a', '/b'], deny: ['/s'] } }, 'fs.read: /b', weaker],
    ['allows less', { ...ALLOW, fs: { read: [], deny: ['/s'] } }, 'fs.read: /a', digest],
    ['refuses less', { ...ALLOW, fs: { read: ['/a'], deny: [] } }, 'fs.deny: /s', weaker],
    ['refuses more', { ...ALLOW, fs: { read: ['/a'], deny: ['/s', '/t'] } }, 'fs.deny: /t', digest],
    ['raises a limit', { ...ALLOW, limits: { pids: 11 } }, 'limits.pids', weaker],
    ['drops a limit', { ...ALLOW, limits: {} }, 'limits.pids', weaker],
    ['lowers a limit', { ...ALLOW, limits: { pids: 9 } }, 'limits.pids', digest],
    ['passes every variable', { ...ALLOW, env: { mode: 'passthrough' } }, 'env.mode', weaker],
    ['passes fewer variables', { ...ALLOW, env: { mode: 'strict' } }, 'env.mode', digest],
  ])('that %s', (_, content, subject, kinds) => {
    expect(compare(content)).toEqual({ digest, [subject]: kinds });
  });

  it('is read whether rules stand by their effect or by their key', () => {
    const rules = (...list: object[]): unknown => ({ fs: list });
    const allow = {
      effect: 'allow',
      key: 'fs.write',
      rights: ['read', 'write'],
      pattern: '${CWD}',
    };
    const deny = { effect: 'deny', rights: ['read'], pattern: '${HOME}/.ssh' };
    const { differences } = compareDrafts([policy(rules(deny), 'a')], [policy(rules(allow), 'b')]);
    expect(differences.map(({ subject, kinds }) => [subject, kinds])).toEqual([
      ['digest', digest],
      ['fs.deny: ${HOME}/.ssh (read)', weaker],
      ['fs.write: ${CWD} (read, write)', weaker],
    ]);
  });
});
