import { describe, expect, it } from 'vitest';

import { canonicalJson } from '../../src/core/canonical-json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import { normalise } from '../../src/evidence/normalise/normalise.ts';
import { computeRunId } from '../../src/evidence/run-id.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { Decision, Event, FileEvent } from '../../src/observe/event.ts';
import { exec, file, makeRecord, network, NOON_MS, program } from './make-record.ts';
import { makeRandom, pick, shuffle } from './normalise/seeded-random.ts';
import { watchProcessor } from '../processor-time.ts';

/** Where, when and as whom a run takes place, and what chance brings. */
interface Circumstances {
  readonly cwd: string;
  readonly home: string;
  readonly tmpdir: string;
  readonly user: string;
  readonly uid: number;
  readonly startMs: number;
  readonly firstPid: number;
  readonly seed: number;
}

const USUAL: Circumstances = {
  cwd: '/home/me/project',
  home: '/home/me',
  tmpdir: '/tmp/private',
  user: 'me',
  uid: 1000,
  startMs: NOON_MS,
  firstPid: 100_000,
  seed: 1,
};

const DENIED: Decision = { rule: 'policy.yaml:6:5 fs.deny: ~/.ssh', layer: 'broker' };
const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** An agent at work: it compiles, commits, keeps a session, talks to a server of its own and tries what it may not. */
function makeRun(circumstances: Circumstances): RunRecord {
  const { cwd, home, tmpdir, user, uid, startMs, firstPid, seed } = circumstances;
  const random = makeRandom(seed);
  const word = (length: number): string => pick(random, ALPHANUMERIC, length);
  const hex = (length: number): string => pick(random, '0123456789abcdef', length);
  const uuid = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
  const [day = ''] = new Date(startMs).toISOString().split('T');
  const object = `${cwd}/.git/objects/${hex(2)}`;
  const dashed = cwd.replace(/[^0-9A-Za-z]/g, '-');
  const port = 33_000 + Math.floor(random() * 20_000);
  const pid = firstPid + 17;
  const passing = (path: string, by: number): FileEvent[] => [
    file('create', path, { program: by }),
    file('unlink', path, { program: by }),
  ];
  const save = `${home}/.agent.json.tmp.${pid}.${startMs + 1200}`;
  const packed = `${object}/tmp_obj_${word(6)}`;

  const events: Event[] = [
    ...Array.from({ length: 20 }, () => passing(`/tmp/cc${word(6)}.s`, 2)).flat(),
    file('create', `${cwd}/main.o`, { program: 2 }),
    file('create', `${cwd}/app`, { program: 2 }),
    file('chmod', `${cwd}/app`, { program: 2, target: '755' }),
    file('read', `${cwd}/main.c`, { program: 2 }),
    file('read', '/usr/lib/libc.so', { program: 2 }),
    file('read', '/etc/passwd'),
    file('mkdir', object, { program: 3 }),
    file('create', packed, { program: 3 }),
    file('link', packed, { program: 3, target: `${object}/${hex(38)}` }),
    file('unlink', packed, { program: 3 }),
    file('create', `${cwd}/.git/index.lock`, { program: 3 }),
    file('rename', `${cwd}/.git/index.lock`, {
      program: 3,
      target: `${cwd}/.git/index`,
      isReplacing: true,
    }),
    file('mkdir', `/tmp/agent-${uid}`),
    file('mkdir', `/tmp/agent-${uid}/${dashed}`),
    file('create', `/tmp/agent-${uid}/${dashed}/${word(9).toLowerCase()}.output`),
    file('mkdir', `${tmpdir}/cache-of-${user}`),
    file('create', save),
    file('rename', save, { target: `${home}/.agent.json` }),
    file('create', `${home}/.agent/sessions/${day.replaceAll('-', '/')}/${day}-${uuid}.jsonl`),
    file('mkdir', `${home}/.agent/projects/${dashed}`),
    file('create', `${home}/.agent/run-${pid}.json`),
    file('read', `/proc/${pid}/stat`),
    file('read', `${home}/.ssh/id_rsa`, { outcome: 'EACCES', decision: DENIED }),
    exec('/usr/bin/gcc'),
    exec('/usr/bin/git'),
    network('bind', 'tcp:127.0.0.1:0'),
    network('connect', `tcp:127.0.0.1:${port}`),
    network('connect', 'tcp:10.1.2.3:443'),
  ];
  for (let at = cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
    events.push(file('read', `${at}/AGENTS.md`, { outcome: 'ENOENT' }));
  events.push(file('read', '/AGENTS.md', { outcome: 'ENOENT' }));

  return makeRecord(events, {
    command: ['agent', '--dir', `${cwd}/src`, `--config=${home}/.agent.json`],
    programs: [
      program(1, `${home}/.local/bin/agent`),
      program(2, '/usr/bin/gcc', { parent: 1 }),
      program(3, '/usr/bin/git', { parent: 1, script: `${cwd}/tool.sh` }),
    ],
    variables: { cwd, home, tmpdir, user },
    privateTmp: ['/tmp', '/var/tmp', tmpdir],
    uid,
    startedMs: startMs,
    endedMs: startMs + 5000,
    pids: [{ first: firstPid, last: firstPid + 300 }],
  });
}

function idOf(record: RunRecord): string {
  return computeRunId(record, normalise(record)).runId;
}

const BASE = makeRun(USUAL);

function withEvents(...more: readonly Event[]): RunRecord {
  return { ...BASE, events: [...BASE.events, ...more] };
}

function withoutEvents(isLeftOut: (event: Event) => boolean): RunRecord {
  return { ...BASE, events: BASE.events.filter((event) => !isLeftOut(event)) };
}

describe('computeRunId()', () => {
  it('is the digest of canonical JSON', () => {
    const normalised = normalise(BASE);
    const { command, degradations, lines } = normalised;
    const { runId, digest, readsSystemDigest } = computeRunId(BASE, normalised);
    const parts = (list: typeof lines): unknown[] =>
      list.map((line) => [
        line.op,
        line.path,
        line.target ?? null,
        line.outcome,
        line.program,
        line.refusedBy ?? null,
        line.digest ?? null,
      ]);
    const schema = 'assay.run-id.v1';
    const end = { execError: '', exitCode: 0, isTimedOut: false, limit: '', signal: 0 };
    const content = { command, degradations, end, lines: parts(lines), schema };
    expect(digest).toBe(sha256Hex(canonicalJson(content)));
    expect(runId).toBe(`sandbox_${digest.slice(0, 16)}`);
    expect(readsSystemDigest).toBe(
      sha256Hex(canonicalJson({ lines: parts(normalised.systemReads), schema })),
    );
  });

  it.each<[string, Partial<Circumstances>]>([
    ['other random names', { seed: 2 }],
    ['still other random names', { seed: 3 }],
    ['another day', { startMs: NOON_MS + 24 * 3_600_000 }],
    ['another year', { startMs: Date.UTC(2027, 1, 3, 12) }],
    ['another time of day', { startMs: NOON_MS - 11.9 * 3_600_000 }],
    ['another process', { firstPid: 2_345_000 }],
    ['another directory', { cwd: '/home/me/elsewhere/deeper/my.app_2' }],
    ['a directory outside the home', { cwd: '/srv/builds/x' }],
    ['a directory at the top', { cwd: '/w' }],
    ['another user', { user: 'other', uid: 1234, home: '/home/other', cwd: '/home/other/w' }],
    ['root', { user: 'root', uid: 0, home: '/root', cwd: '/root/w' }],
    ['another tmp', { tmpdir: '/var/tmp/assay-77' }],
    [
      'everything else',
      {
        seed: 9,
        firstPid: 777_000,
        startMs: Date.UTC(2031, 0, 1),
        uid: 501,
        user: 'jo',
        home: '/data/homes/jo',
        cwd: '/mnt/disk/jo/p',
        tmpdir: '/tmp/z',
      },
    ],
  ])('is the same for %s', (_, change) => {
    expect(normalise(makeRun({ ...USUAL, ...change })).lines).toEqual(normalise(BASE).lines);
    expect(idOf(makeRun({ ...USUAL, ...change }))).toBe(idOf(BASE));
  });

  it('is the same in any order of events', () => {
    const random = makeRandom(5);
    for (let round = 0; round < 20; round += 1)
      expect(idOf({ ...BASE, events: shuffle(random, BASE.events) })).toBe(idOf(BASE));
  });

  it('is the same whatever numbers programs have, in whatever order they are listed', () => {
    const renumber = (id: number): number => (id === 0 ? 0 : 40 - id);
    const record: RunRecord = {
      ...BASE,
      programs: BASE.programs
        .map((one) => ({ ...one, id: renumber(one.id), parent: renumber(one.parent) }))
        .reverse(),
      events: BASE.events.map((event) =>
        'program' in event ? { ...event, program: renumber(event.program) } : event,
      ),
    };
    expect(idOf(record)).toBe(idOf(BASE));
  });

  const { cwd } = USUAL;
  it.each<[string, RunRecord]>([
    ['counts', { ...BASE, events: BASE.events.map((event) => ({ ...event, count: 7 })) }],
    [
      'how it is known',
      { ...BASE, events: BASE.events.map((event) => ({ ...event, basis: 'observed' })) },
    ],
    ['the environment', { ...BASE, environment: { passed: ['CI'], removed: ['TOKEN'] } }],
    [
      'one more temporary file of the same program',
      withEvents(file('create', '/tmp/ccQQxx12.s', { program: 2 })),
    ],
    [
      'a race for a directory',
      withEvents(file('mkdir', `/tmp/agent-${USUAL.uid}`, { outcome: 'EEXIST' })),
    ],
    [
      'a probe that came too early',
      withEvents(file('read', `${cwd}/main.o`, { program: 2, outcome: 'ENOENT' })),
    ],
    [
      'an index that git gave up',
      withEvents(file('unlink', `${cwd}/.git/index.lock`, { program: 3 })),
    ],
    [
      'when things happened, or how they are known',
      {
        ...BASE,
        launchedMs: 5,
        events: BASE.events.map((event) =>
          'basis' in event ? { ...event, atMs: 77, basis: 'predicted' as const } : event,
        ),
        programs: BASE.programs.map((one) => ({ ...one, atMs: 3 })),
      },
    ],
    ['an interrupted call', withEvents(file('read', `${cwd}/fifo`, { outcome: 'EINTR' }))],
    [
      'another file of the system read',
      withEvents(file('read', '/usr/lib/libm.so', { program: 2 })),
    ],
    [
      'an update of the compiler',
      {
        ...BASE,
        programs: BASE.programs.map((one) =>
          one.id === 2 ? { ...one, digest: 'cd'.repeat(32) } : one,
        ),
      },
    ],
    [
      'a rule that has moved in its file',
      {
        ...BASE,
        events: BASE.events.map((event) =>
          'decision' in event && event.decision
            ? {
                ...event,
                decision: { rule: `${cwd}/p.yaml:9:1 fs.deny: ~/.ssh`, layer: 'kernel' as const },
              }
            : event,
        ),
      },
    ],
  ])('does not depend on %s', (_, record) => {
    expect(idOf(record)).toBe(idOf(BASE));
  });

  it('tells by a second digest which files of the system were read', () => {
    const more = withEvents(file('read', '/usr/lib/libm.so', { program: 2 }));
    expect(computeRunId(more, normalise(more)).readsSystemDigest).not.toBe(
      computeRunId(BASE, normalise(BASE)).readsSystemDigest,
    );
  });
});

const DIFFERENCES: readonly [string, RunRecord][] = [
  ...[
    'README',
    'config',
    'id_rsa',
    'report-2024.csv',
    'data-20240101.csv',
    'main.4f3c2a1b.js',
    'chunk-AbC123.js',
    'deadbeefcafe',
    'qzxvkw',
    'a-1000',
    '.env',
    'x',
    'yarn.lock',
    'build.log',
    'about-me',
  ].map((name): [string, RunRecord] => [
    `a new file ${name}`,
    withEvents(file('create', `${USUAL.cwd}/${name}`)),
  ]),
  ['a new file in the home', withEvents(file('create', '/home/me/.bashrc'))],
  ['a new file in /etc', withEvents(file('create', '/etc/cron.d/job'))],
  ['a new file with a plain name in the tmp', withEvents(file('create', '/tmp/payload'))],
  ['a new kind of temporary file', withEvents(file('create', '/tmp/ccQQxx12.x', { program: 2 }))],
  [
    'another program that makes temporary files',
    withEvents(file('create', '/tmp/ccQQxx12.s', { program: 3 })),
  ],
  [
    'the same file written by another program',
    withEvents(file('write', '/home/me/project/main.o')),
  ],
  [
    'a file not written',
    withoutEvents((event) => event.kind === 'file' && event.path.endsWith('/main.o')),
  ],
  ['a file removed', withEvents(file('unlink', '/home/me/project/main.c'))],
  ['a directory made', withEvents(file('mkdir', '/home/me/project/out'))],
  ['a directory removed', withEvents(file('rmdir', '/home/me/project/old'))],
  [
    'a file renamed',
    withEvents(file('rename', '/home/me/project/a', { target: '/home/me/project/b' })),
  ],
  ['a symbolic link', withEvents(file('symlink', '/home/me/project/l', { target: '/etc/passwd' }))],
  ['a hard link', withEvents(file('link', '/home/me/project/a', { target: '/home/me/project/b' }))],
  [
    'a mode that makes executable',
    withEvents(file('chmod', '/home/me/project/main.o', { target: '755' })),
  ],
  [
    'a mode that sets the user id',
    withEvents(file('chmod', '/home/me/project/app', { target: '4755', program: 2 })),
  ],
  ['other times of a file', withEvents(file('utimes', '/home/me/project/main.c'))],
  ['another read', withEvents(file('read', '/etc/hosts'))],
  ['a read in the home', withEvents(file('read', '/home/me/.netrc'))],
  [
    'a probe for a secret that is not there',
    withEvents(file('read', '/home/me/.aws/credentials', { outcome: 'ENOENT' })),
  ],
  ['a read from another system directory', withEvents(file('read', '/usr/src/x', { program: 2 }))],
  ['the environment of another process', withEvents(file('read', '/proc/7/environ'))],
  [
    'a read that fails',
    withEvents(file('read', '/home/me/project/main.c', { program: 2, outcome: 'EIO' })),
  ],
  [
    'a new refusal',
    withEvents(file('read', '/home/me/.ssh/config', { outcome: 'EACCES', decision: DENIED })),
  ],
  [
    'another rule that refuses',
    {
      ...BASE,
      events: BASE.events.map((event) =>
        'decision' in event && event.decision
          ? { ...event, decision: { ...DENIED, rule: 'fs.deny: ~/.ssh/id_*' } }
          : event,
      ),
    },
  ],
  ['a refusal less', withoutEvents((event) => 'decision' in event)],
  [
    'a failure instead of a refusal',
    {
      ...BASE,
      events: BASE.events.map((event) =>
        'decision' in event ? { ...event, decision: undefined } : event,
      ),
    },
  ],
  [
    'the same write refused',
    withEvents(
      file('write', '/home/me/project/app', { program: 2, outcome: 'EACCES', decision: DENIED }),
    ),
  ],
  [
    'a refused read in a system directory',
    withEvents(file('read', '/usr/lib/x', { outcome: 'EACCES', decision: DENIED })),
  ],
  ['another program tried', withEvents(exec('/usr/bin/curl', { outcome: 'ENOENT' }))],
  [
    'another program run',
    { ...BASE, programs: [...BASE.programs, program(4, '/usr/bin/curl', { parent: 1 })] },
  ],
  [
    'the same program run by another',
    { ...BASE, programs: [...BASE.programs, program(4, '/usr/bin/gcc', { parent: 3 })] },
  ],
  [
    'another script',
    {
      ...BASE,
      programs: [
        ...BASE.programs,
        program(4, '/usr/bin/git', { parent: 1, script: '/home/me/project/b.sh' }),
      ],
    },
  ],
  [
    'another version of a program in the home',
    {
      ...BASE,
      programs: BASE.programs.map((one) =>
        one.id === 1 ? { ...one, digest: 'cd'.repeat(32) } : one,
      ),
    },
  ],
  ['another host', withEvents(network('connect', 'tcp:10.1.2.4:443'))],
  ['another port', withEvents(network('connect', 'tcp:10.1.2.3:8443'))],
  ['another protocol', withEvents(network('connect', 'udp:10.1.2.3:443'))],
  ['a local service', withEvents(network('connect', 'tcp:127.0.0.1:5432'))],
  ['a server', withEvents(network('bind', 'tcp:0.0.0.0:8080'))],
  ['a socket', withEvents(network('connect', 'unix:/run/docker.sock'))],
  [
    'a refused connection',
    withEvents(network('connect', 'tcp:10.1.2.3:443', { outcome: 'ECONNREFUSED' })),
  ],
  ['another exit code', { ...BASE, end: { ...BASE.end, exitCode: 1 } }],
  ['a signal', { ...BASE, end: { ...BASE.end, signal: 9 } }],
  ['a timeout', { ...BASE, end: { ...BASE.end, isTimedOut: true } }],
  ['a limit', { ...BASE, end: { ...BASE.end, limit: 'memory' } }],
  ['a limit on the way', withEvents({ kind: 'limit', limit: 'files' })],
  ['another argument', { ...BASE, command: [...BASE.command, '--verbose'] }],
  ['arguments that are cut otherwise', { ...BASE, command: [BASE.command.join(' ')] }],
  [
    'a rule that was not enforced',
    withEvents({ kind: 'degradation', rule: 'net', reason: 'no Landlock' }),
  ],
  [
    'events beyond the cap',
    {
      ...BASE,
      overflow: [
        {
          op: 'write',
          directory: '/home/me/project',
          outcome: 'ok',
          program: 1,
          count: 3,
          digest: 'a1',
          atMs: 0,
        },
      ],
    },
  ],
];

describe('small differences', () => {
  it('are at least forty', () => {
    expect(DIFFERENCES.length).toBeGreaterThanOrEqual(40);
  });

  it.each(DIFFERENCES)('%s gives another id', (_, record) => {
    expect(idOf(record)).not.toBe(idOf(BASE));
  });

  it('give ids that differ from one another', () => {
    const ids = DIFFERENCES.map(([, record]) => idOf(record));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a long run', () => {
  it('of 200,000 events takes seconds, whether names stay or pass', () => {
    const random = makeRandom(11);
    const events: Event[] = [];
    for (let index = 0; index < 100_000; index += 1)
      events.push(file('create', `${USUAL.cwd}/d${index % 300}/name-${index}.txt`));
    for (let index = 0; index < 50_000; index += 1) {
      const path = `/tmp/d${index % 300}/cc${pick(random, ALPHANUMERIC, 6)}.s`;
      events.push(file('create', path), file('unlink', path));
    }
    const record = makeRecord(events);
    const spentMs = watchProcessor();
    const normalised = normalise(record);
    computeRunId(record, normalised);
    expect(spentMs()).toBeLessThan(20_000);
    expect(normalised.lines.length).toBe(100_000 + 600 + 2);
  }, 300_000);
});
