import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import type { Event } from '../../../src/observe/event.ts';
import { exec, file, makeRecord, program } from '../make-record.ts';
import { CWD, linesOf } from './lines-of.ts';

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

  it('do not show how deep the working directory lies by the lists of what is above', () => {
    const lists = (cwd: string): Event[] => {
      const events: Event[] = [file('read', '/', { outcome: 'EACCES' })];
      for (let at = cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        events.push(file('read', at));
      return events;
    };
    const runIn = (cwd: string, events = lists(cwd)): string[] =>
      linesOf(events, { variables: { cwd, home: '/root', tmpdir: '/tmp/t', user: 'root' } });
    expect(runIn('/srv/a/b')).toEqual(['read ${CWD} ok', 'read ${UP} ok', 'read / EACCES']);
    expect(runIn('/srv/a/b/c/d')).toEqual(runIn('/srv/a/b'));
    // Not a walk: one of them alone.
    expect(runIn('/srv/a/b', [file('read', '/srv/a')])).toEqual(['read ${CWD}/.. ok']);
    expect(runIn('/srv/a/b', [file('read', '/srv')])).toEqual(['read ${CWD}/../.. ok']);
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
