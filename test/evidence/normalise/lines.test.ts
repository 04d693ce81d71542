import { describe, expect, it } from 'vitest';

import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { NORMALISATION_RULES } from '../../../src/evidence/normalise/rules.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import type { Event } from '../../../src/observe/event.ts';
import { exec, file, makeRecord, network, program } from '../make-record.ts';

const CWD = '/home/me/project';

/** The lines of what happened, as `op path [target] outcome [program]`; those of the programs are left out. */
function linesOf(events: readonly Event[], more: Partial<RunRecord> = {}): string[] {
  return normalise(makeRecord(events, more))
    .lines.filter(({ op }) => op !== 'run')
    .map(({ op, path, target, outcome, program: by, refusedBy }) =>
      [
        op,
        path,
        target,
        outcome,
        by === '/usr/bin/make' ? undefined : by,
        refusedBy === undefined ? undefined : `refused(${refusedBy})`,
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    );
}

describe('changes', () => {
  it('are known by their effect', () => {
    expect(
      linesOf([
        file('create', `${CWD}/a`),
        file('write', `${CWD}/a`),
        file('truncate', `${CWD}/a`),
        file('utimes', `${CWD}/a`),
        file('chown', `${CWD}/a`),
        file('xattr', `${CWD}/a`),
        file('chmod', `${CWD}/a`, { target: '644' }),
      ]),
    ).toEqual(['meta ${CWD}/a ok', 'write ${CWD}/a ok']);
  });

  it('show what becomes executable or set-user-id, by a mode that a umask does not change', () => {
    expect(
      linesOf([
        file('chmod', `${CWD}/a`, { target: '755' }),
        file('chmod', `${CWD}/a`, { target: '775' }),
        file('chmod', `${CWD}/b`, { target: '4755' }),
        file('mkdir', `${CWD}/d`),
        file('chmod', `${CWD}/d`, { target: '755' }),
        file('chmod', `${CWD}/e`, { target: '755', isDirectory: true }),
      ]),
    ).toEqual([
      'chmod+s ${CWD}/b ok',
      'chmod+x ${CWD}/a ok',
      'meta ${CWD}/d ok',
      'meta ${CWD}/e ok',
      'mkdir ${CWD}/d ok',
    ]);
  });

  it('show where links and renames lead', () => {
    expect(
      linesOf([
        file('symlink', `${CWD}/l`, { target: '/home/me/x' }),
        file('symlink', `${CWD}/m`, { target: '../y' }),
        file('link', `${CWD}/a`, { target: `${CWD}/b` }),
        file('rename', `${CWD}/a`, { target: `${CWD}/c` }),
      ]),
    ).toEqual([
      'link ${CWD}/a ${CWD}/b ok',
      'rename ${CWD}/a ${CWD}/c ok',
      'symlink ${CWD}/l ${HOME}/x ok',
      'symlink ${CWD}/m ../y ok',
    ]);
  });
});

describe('races', () => {
  it('do not show who came first', () => {
    const first = [
      file('mkdir', `${CWD}/d`),
      file('mkdir', `${CWD}/d`, { program: 2, outcome: 'EEXIST' }),
    ];
    const second = [
      file('mkdir', `${CWD}/d`, { program: 2 }),
      file('mkdir', `${CWD}/d`, { outcome: 'EEXIST' }),
    ];
    expect(linesOf(first)).toEqual(linesOf(second));
    expect(linesOf(first)).toHaveLength(2);
  });

  it('do not show probes before or after', () => {
    const base = [file('create', `${CWD}/a`)];
    const more: Event[] = [
      file('read', `${CWD}/a`, { outcome: 'ENOENT' }),
      file('unlink', `${CWD}/a`, { outcome: 'ENOENT' }),
      file('read', `${CWD}/b`, { outcome: 'EINTR' }),
      file('chown', `${CWD}/a`, { outcome: 'EPERM' }),
    ];
    expect(linesOf([...base, ...more])).toEqual(linesOf(base));
  });

  it('leave probes of what was never made', () => {
    expect(
      linesOf([
        file('read', '/home/me/.ssh/id_rsa', { outcome: 'ENOENT' }),
        file('mkdir', `${CWD}/there`, { outcome: 'EEXIST' }),
      ]),
    ).toEqual(['mkdir ${CWD}/there EEXIST', 'read ${HOME}/.ssh/id_rsa ENOENT']);
  });

  it('leave refusals, whatever they are of', () => {
    const decision = { rule: 'policy.yaml:6:5 fs.deny: ~/.ssh', layer: 'broker' } as const;
    const refused = { outcome: 'EACCES', decision };
    expect(
      linesOf([
        file('create', `${CWD}/a.db`),
        file('read', `${CWD}/a.db-wal`, refused),
        file('read', '/usr/lib/x', refused),
        file('read', '/usr/bin/make', refused),
        file('unlink', `${CWD}/x.lock`, { ...refused, decision: { rule: null, layer: 'kernel' } }),
        exec('/usr/bin/gcc', { ...refused, decision: { rule: 'hooks', layer: 'git-guard' } }),
      ]),
    ).toEqual([
      'exec /usr/bin/gcc EACCES refused(git-guard: hooks)',
      'read ${CWD}/a.db-wal EACCES refused(fs.deny: ~/.ssh)',
      'read /usr/bin/make EACCES refused(fs.deny: ~/.ssh)',
      'read /usr/lib/x EACCES refused(fs.deny: ~/.ssh)',
      'unlink ${CWD}/x.lock EACCES refused()',
      'write ${CWD}/a.db ok',
    ]);
  });
});

describe('locks', () => {
  const index = `${CWD}/.git/index`;
  const lock = `${index}.lock`;

  it('of a git index look the same whether git wrote it or thought better of it', () => {
    const written = [
      file('create', lock),
      file('rename', lock, { target: index, isReplacing: true }),
    ];
    const givenUp = [file('create', lock), file('unlink', lock)];
    expect(linesOf(written)).toEqual(['write ${CWD}/.git/index ok']);
    expect(linesOf(givenUp)).toEqual(linesOf(written));
    expect(linesOf([...written, ...givenUp])).toEqual(linesOf(written));
  });

  it('show that they were taken and renamed, not that they were given up', () => {
    const ref = `${CWD}/.git/refs/heads/main`;
    const taken = [file('create', `${ref}.lock`), file('unlink', `${ref}.lock`)];
    expect(linesOf(taken)).toEqual(['write ${CWD}/.git/refs/heads/main.lock ok']);
    expect(linesOf([...taken, file('rename', `${ref}.lock`, { target: ref })])).toHaveLength(2);
  });

  it('of servers, which are sockets, do not show whether there was time to tidy up', () => {
    const socket = `${CWD}/agent.socket`;
    const events = [network('bind', `unix:${socket}`)];
    expect(linesOf([...events, file('unlink', socket)])).toEqual(linesOf(events));
    expect(linesOf([file('unlink', socket)])).toEqual(['unlink ${CWD}/agent.socket ok']);
  });

  it('that were there before show their removal', () => {
    expect(linesOf([file('unlink', lock.replace('index', 'HEAD'))])).toHaveLength(1);
    expect(linesOf([file('unlink', `${CWD}/yarn.lock`)])).toEqual(['unlink ${CWD}/yarn.lock ok']);
  });
});

describe('what depends on the user', () => {
  it('is not where the account has its home', () => {
    const variables = { cwd: '/w/a', home: '/w/home', tmpdir: '/w/tmp', user: 'root' };
    const missing = { outcome: 'ENOENT' };
    expect(
      linesOf([file('read', '/root/.sqliterc', missing), file('read', '/root/.netrc')], {
        variables,
        uid: 0,
      }),
    ).toEqual(['read ${HOME}/.sqliterc ENOENT', 'read /root/.netrc ok']);
  });

  it('is not whether the machine knows it', () => {
    const missing = { outcome: 'ENOENT' };
    expect(linesOf([file('read', '/run/userdb/54321.user', missing)])).toEqual([]);
    expect(linesOf([file('read', '/etc/userdb/a.user')])).toHaveLength(1);
    const cache = 'unix:/var/run/nscd/socket';
    expect(linesOf([network('connect', cache, missing)])).toEqual([]);
    expect(linesOf([network('connect', cache)])).toHaveLength(1);
    expect(linesOf([network('connect', 'unix:/var/run/docker.sock', missing)])).toHaveLength(1);
  });

  it('is not whether a file is made executable at once or by its maker', () => {
    const events = [file('create', `${CWD}/a`), file('utimes', `${CWD}/a`)];
    const chmod = file('chmod', `${CWD}/a`, { target: '755' });
    expect(linesOf([...events, chmod])).toEqual(linesOf(events));
    expect(linesOf([...events, { ...chmod, program: 2 }])).not.toEqual(linesOf(events));
  });
});

describe('git', () => {
  it('may look at its work tree again or not', () => {
    const programs = [program(1, '/usr/lib/git-core/git'), program(2, '/usr/bin/cat')];
    const base = [file('read', `${CWD}/.git/HEAD`)];
    const more = [file('read', `${CWD}/src/a.c`), file('read', `${CWD}/README`)];
    expect(linesOf([...base, ...more], { programs })).toEqual(linesOf(base, { programs }));
    const elsewhere = file('read', '/home/me/secret');
    expect(linesOf([...base, elsewhere], { programs })).toHaveLength(2);
    const byOther = file('read', `${CWD}/README`, { program: 2 });
    expect(linesOf([...base, byOther], { programs })).toHaveLength(2);
  });

  it('may set the times of objects that are there already, or not', () => {
    const programs = [program(1, '/usr/bin/git'), program(2, '/usr/bin/touch')];
    const object = `${CWD}/.git/objects/e6/9de29bb2d1d6434b8b29ae775ad8c2e48c5391`;
    const pack = `${CWD}/.git/objects/pack/pack-${'0a'.repeat(20)}.pack`;
    const base = [file('read', `${CWD}/.git/HEAD`)];
    const freshened = [...base, file('utimes', object), file('utimes', pack)];
    expect(linesOf(freshened, { programs })).toEqual(linesOf(base, { programs }));
    for (const event of [
      file('utimes', object, { program: 2 }),
      file('chmod', object, { target: '0600' }),
      file('utimes', `${CWD}/.git/objects/e6/notes`),
    ])
      expect(linesOf([...base, event], { programs }), event.op).toHaveLength(2);
  });

  it('may find objects whose names begin alike, or none', () => {
    const programs = [program(1, '/usr/lib/git-core/git'), program(2, '/usr/bin/ls')];
    const base = [file('read', `${CWD}/origin.git/HEAD`)];
    const path = `${CWD}/origin.git/objects/17`;
    for (const outcome of ['ok', 'ENOENT'])
      expect(linesOf([...base, file('read', path, { outcome })], { programs })).toEqual(
        linesOf(base, { programs }),
      );
    for (const event of [file('read', path, { program: 2 }), file('read', `${path}/notes`)])
      expect(linesOf([...base, event], { programs }), event.path).toHaveLength(2);
  });

  it('has the same form for a directory that is not there as for one that is', () => {
    const path = `${CWD}/origin.git/objects/ab`;
    const events = [
      file('write', `${CWD}/origin.git/./objects/ab/tmp_obj_AbCd12`, { outcome: 'ENOENT' }),
      file('mkdir', path),
      file('create', `${path}/tmp_obj_QwEr34`),
      file('unlink', `${path}/tmp_obj_QwEr34`),
    ];
    expect(linesOf(events)).toEqual([
      'mkdir ${CWD}/origin.git/objects/<*> ok',
      'unlink ${CWD}/origin.git/objects/<*>/tmp_obj_<*> ok',
      'write ${CWD}/origin.git/objects/<*>/tmp_obj_<*> ok',
    ]);
  });
});

describe('databases', () => {
  it('look the same whether they were tidied up at the end or not', () => {
    const main = `${CWD}/state.sqlite`;
    const events = [
      file('create', main),
      file('create', `${main}-wal`),
      file('create', `${main}-shm`),
    ];
    const tidy = [
      file('unlink', `${main}-wal`),
      file('unlink', `${main}-shm`),
      file('truncate', main),
    ];
    expect(linesOf([...events, ...tidy])).toEqual(linesOf(events));
    expect(linesOf(events)).toEqual(['write ${CWD}/state.sqlite ok']);
  });

  it('are known by their side files where their name does not tell', () => {
    const events = [file('create', `${CWD}/store`), file('create', `${CWD}/store-wal`)];
    expect(linesOf(events)).toEqual(['write ${CWD}/store ok']);
    expect(linesOf([file('create', `${CWD}/great-wal`)])).toEqual(['write ${CWD}/great-wal ok']);
  });
});

describe('reads', () => {
  it('in system directories are known by the directory, and by a digest beside the id', () => {
    const { lines, systemReads } = normalise(
      makeRecord([
        file('read', '/usr/lib/a.so'),
        file('read', '/lib/b.so', { outcome: 'ENOENT' }),
        file('read', '/usr/local/share/x'),
        file('read', '/sys/devices/system/cpu/online'),
        file('read', '/proc/meminfo'),
        file('read', '/proc/pressure/memory', { outcome: 'ENOENT' }),
        // By the C library, when it gives memory back.
        file('read', '/proc/sys/vm/overcommit_memory'),
        file('read', '/proc/sys/vm/swappiness'),
        file('read', '/etc/passwd'),
        file('read', '/usr/share/secret', { outcome: 'EACCES' }),
      ]),
    );
    const reads = lines.filter(({ op }) => op === 'read').map(({ path }) => path);
    expect(reads).toEqual([
      '/etc/passwd',
      '/proc/sys/vm/swappiness',
      '/usr/lib/**',
      '/usr/local/share/**',
      '/usr/share/secret',
    ]);
    expect(systemReads.map(({ path }) => path)).toEqual([
      '/lib/b.so',
      '/proc/meminfo',
      '/proc/pressure/memory',
      '/proc/sys/vm/overcommit_memory',
      '/sys/devices/system/cpu/online',
      '/usr/lib/a.so',
      '/usr/local/share/x',
    ]);
  });

  it('of the user database name no user', () => {
    const readsOf = (uid: number, user: string): string[] => {
      const { variables } = makeRecord([]);
      const paths = [
        `/lib/userdb/${uid}.user`,
        `/lib/userdb/${user}.user`,
        '/lib/userdb/root.user',
      ];
      const record = makeRecord(
        paths.map((path) => file('read', path, { outcome: 'ENOENT' })),
        { uid, variables: { ...variables, user } },
      );
      return normalise(record).systemReads.map(({ path }) => path);
    };
    expect(readsOf(1000, 'me')).toEqual(readsOf(54_321, 'ada'));
    expect(readsOf(1000, 'me')).toContain('/lib/userdb/root.user');
  });

  it('in the installation of the program itself are known by that', () => {
    const programs = [program(1, '/opt/node/bin/node'), program(2, `${CWD}/tool/bin/x`)];
    expect(
      linesOf(
        [
          file('read', '/opt/node/lib/x.js'),
          file('read', '/opt/other/x'),
          file('read', '/opt/node/bin/node'),
          file('read', `${CWD}/tool/lib/y`, { program: 2 }),
        ],
        { programs },
      ),
    ).toEqual([
      'read ${CWD}/tool/lib/y ok ${CWD}/tool/bin/x',
      'read /opt/node/** * /opt/node/bin/node',
      'read /opt/other/x ok /opt/node/bin/node',
    ]);
  });

  it('of processes are of oneself, of the run, or of others', () => {
    expect(
      linesOf([
        file('read', '/proc/100005/status', { requested: '/proc/self/status' }),
        file('read', '/proc/100006/environ'),
        file('read', '/proc/1/environ', { outcome: 'ENOENT' }),
        file('read', '/proc/2/environ', { outcome: 'EACCES' }),
        file('read', '/proc/100006/environ', { outcome: 'EACCES' }),
        file('write', '/proc/100006/oom_score_adj', { outcome: 'EACCES' }),
        file('read', '/proc/kcore', { outcome: 'EACCES' }),
      ]),
    ).toEqual([
      'read /proc/${OTHER-PID}/environ *',
      'read /proc/${PID}/environ *',
      'read /proc/kcore EACCES',
      'read /proc/self/status *',
      'write /proc/${PID}/oom_score_adj EACCES',
    ]);
  });
});

describe('searches', () => {
  it('up from the working directory do not show how deep it lies', () => {
    const missing = { outcome: 'ENOENT' };
    const probes = (cwd: string): Event[] => {
      const events = [file('read', '/package.json', missing)];
      for (let at = cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        events.push(file('read', `${at}/package.json`, missing));
      return events;
    };
    const variables = { cwd: '/srv/a/b/c', home: '/root', tmpdir: '/tmp/t', user: 'root' };
    expect(linesOf(probes(CWD))).toEqual(linesOf(probes('/srv/a/b/c'), { variables }));
    expect(linesOf(probes(CWD))).toEqual([
      'read ${CWD}/package.json ENOENT',
      'read ${UP}/package.json ENOENT',
    ]);
  });

  it('up to the directory below the root are the same', () => {
    const missing = { outcome: 'ENOENT' };
    const probes = (cwd: string): Event[] => {
      const events: Event[] = [];
      for (let at = cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        events.push(file('read', `${at}/.tool/rules`, missing));
      return events;
    };
    const variables = { cwd: '/srv/a/b/c', home: '/root', tmpdir: '/tmp/t', user: 'root' };
    expect(linesOf(probes(CWD))).toEqual([
      'read ${CWD}/.tool/rules ENOENT',
      'read ${UP}/.tool/rules ENOENT',
    ]);
    expect(linesOf(probes('/srv/a/b/c'), { variables })).toEqual(linesOf(probes(CWD)));
    const found = probes(CWD).with(1, file('read', '/home/me/.tool/rules'));
    expect(linesOf(found)).toContain('read ${HOME}/.tool/rules ok');
  });

  it('in two places are no search upwards', () => {
    const missing = { outcome: 'ENOENT' };
    expect(
      linesOf([file('read', `${CWD}/.npmrc`, missing), file('read', '/home/me/.npmrc', missing)]),
    ).toHaveLength(2);
  });

  it('down to a place do not show how deep it lies', () => {
    const there = { outcome: 'EEXIST' };
    expect(
      linesOf([
        file('mkdir', '/home', there),
        file('mkdir', '/home/me', there),
        file('mkdir', CWD, there),
        file('mkdir', `${CWD}/src`, there),
        file('mkdir', `${CWD}/src/new`),
      ]),
    ).toEqual(['mkdir ${CWD} EEXIST', 'mkdir ${CWD}/src EEXIST', 'mkdir ${CWD}/src/new ok']);
  });

  it('along PATH show only what was found', () => {
    const missing = { outcome: 'ENOENT' };
    expect(
      linesOf([
        exec('/home/me/bin/gcc', missing),
        exec('/usr/bin/gcc'),
        exec('/usr/bin/tcc', missing),
      ]),
    ).toEqual(['exec /usr/bin/gcc ok', 'exec /usr/bin/tcc ENOENT']);
  });
});

describe('network', () => {
  it('hides a port only if the run was given it', () => {
    expect(linesOf([network('connect', 'tcp:127.0.0.1:45678')])).toEqual([
      'connect tcp:127.0.0.1:45678 ok',
    ]);
    expect(
      linesOf([
        network('bind', 'tcp:127.0.0.1:0'),
        network('bind', 'tcp:127.0.0.1:40000'),
        network('connect', 'tcp:127.0.0.1:45678'),
        network('connect', 'tcp:127.0.0.1:40000'),
        network('connect', 'tcp:127.0.0.1:5432'),
        network('connect', 'tcp:10.0.0.1:45678'),
        network('connect', 'udp:127.0.0.1:45678'),
      ]),
    ).toEqual([
      'bind tcp:127.0.0.1:0 ok',
      'bind tcp:127.0.0.1:40000 ok',
      'connect tcp:10.0.0.1:45678 ok',
      'connect tcp:127.0.0.1:${PORT} ok',
      'connect tcp:127.0.0.1:40000 ok',
      'connect tcp:127.0.0.1:5432 ok',
      'connect udp:127.0.0.1:45678 ok',
    ]);
  });

  it('hides exactly the port that the kernel chose, where that is known', () => {
    const bind = { ...network('bind', 'tcp:127.0.0.1:0'), chosenPort: 45678 };
    expect(
      linesOf([
        bind,
        network('connect', 'tcp:[::1]:45678'),
        network('connect', 'tcp:127.0.0.1:45679'),
      ]),
    ).toEqual([
      'bind tcp:127.0.0.1:0 ok',
      'connect tcp:127.0.0.1:45679 ok',
      'connect tcp:[::1]:${PORT} ok',
    ]);
  });

  it('does not show whether a connection was there at once', () => {
    expect(linesOf([network('connect', 'tcp:10.0.0.1:80', { outcome: 'EINPROGRESS' })])).toEqual(
      linesOf([network('connect', 'tcp:10.0.0.1:80')]),
    );
  });
});

describe('programs', () => {
  it.each([
    ['are memory only', '/memfd:a (deleted)', '/memfd:b (deleted)'],
    ['never had a name', '/dev/shm/#17 (deleted)', '/dev/shm/#18 (deleted)'],
  ])('that %s are told apart by their digest', (_, one, other) => {
    const linesWith = (path: string, digest: string): unknown =>
      normalise(makeRecord([], { programs: [program(1, path, { digest })] })).lines;
    expect(linesWith(one, 'ab')).toEqual(linesWith(other, 'ab'));
    expect(linesWith(one, 'ab')).not.toEqual(linesWith(one, 'cd'));
  });

  it('are edges from image to image, with a digest where the path does not tell', () => {
    const script = '/home/me/project/run.sh';
    const programs = [
      program(1, '/bin/sh', { script }),
      program(2, `${CWD}/node_modules/.bin/tool`),
      program(3, '/tmp/x8Zk2Q'),
      program(4, `${CWD}/built`),
    ];
    const events = [file('create', '/tmp/x8Zk2Q'), file('create', `${CWD}/built`)];
    const runs = normalise(makeRecord(events, { programs })).lines.filter(({ op }) => op === 'run');
    expect(runs.map(({ path, target, program: by, digest }) => [by, path, target, digest])).toEqual(
      [
        ['${TMPDIR}/<*>', '${CWD}/built', undefined, undefined],
        ['/bin/sh', '${CWD}/node_modules/.bin/tool', undefined, 'ab'.repeat(32)],
        ['${CWD}/node_modules/.bin/tool', '${TMPDIR}/<*>', undefined, 'ab'.repeat(32)],
        ['assay', '/bin/sh', '${CWD}/run.sh', undefined],
      ],
    );
  });
});

describe('NORMALISATION_RULES', () => {
  it('says of every rule what it does and what it hides', () => {
    for (const { name, appliesTo, does, hides } of NORMALISATION_RULES)
      expect([name, appliesTo, does, hides].every((text) => text.length > 2)).toBe(true);
    const names = NORMALISATION_RULES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('names every rule that folds a name', () => {
    const known = new Set(NORMALISATION_RULES.map(({ name }) => name));
    for (const name of [
      'uuid',
      'tool',
      'stamp',
      'epoch',
      'pid',
      'store',
      'nanoid',
      'loose',
      'siblings',
    ])
      expect(known).toContain(name);
  });
});

describe('a line that stands for several events', () => {
  it('has the time of the first, and is known in the weakest way', () => {
    const events = [
      file('write', `${CWD}/a`, { atMs: 30, basis: 'performed' }),
      file('truncate', `${CWD}/a`, { atMs: 10, basis: 'predicted' }),
      file('create', `${CWD}/a`, { atMs: 20, basis: 'observed' }),
    ];
    for (const order of [events, events.toReversed()])
      expect(normalise(makeRecord(order)).lines).toContainEqual(
        expect.objectContaining({ op: 'write', atMs: 10, basis: 'predicted' }),
      );
  });
});
