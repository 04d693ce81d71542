import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import { exec, file, network, program } from './make-record.ts';
import { BASE, DENIED, idOf, USUAL, withEvents, withoutEvents } from './typical-run.ts';

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
