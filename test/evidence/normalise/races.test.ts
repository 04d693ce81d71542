import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/observe/event.ts';
import { exec, file, network, program } from '../make-record.ts';
import { CWD, linesOf } from './lines-of.ts';

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

  it('do not show what a program does with its own passing files and directories', () => {
    const base = [
      file('mkdir', `${CWD}/made`),
      file('create', '/tmp/cache.part'),
      file('rename', '/tmp/cache.part', { target: '/tmp/cache' }),
    ];
    const own = [
      file('utimes', `${CWD}/made`),
      file('chown', '/tmp/cache.part'),
      file('chmod', '/tmp/cache.part', { target: '755' }),
      file('read', '/tmp/cache'),
    ];
    expect(linesOf([...own, ...base])).toEqual(linesOf(base));
  });

  it('do not show times and owner that a program gives a symbolic link of its own', () => {
    const base = [
      file('symlink', `${CWD}/l`, { target: 'x' }),
      file('symlink', `${CWD}/.l.x8Zk2Q`, { target: 'y' }),
      file('rename', `${CWD}/.l.x8Zk2Q`, { target: `${CWD}/m` }),
    ];
    const own = [
      file('utimes', `${CWD}/l`),
      file('chown', `${CWD}/l`),
      file('chown', `${CWD}/m`),
      file('utimes', `${CWD}/m`),
    ];
    expect(linesOf([...own, ...base])).toEqual(linesOf(base));
    for (const event of [
      file('utimes', `${CWD}/l`, { program: 2 }),
      file('xattr', `${CWD}/l`),
      file('utimes', `${CWD}/other`),
    ])
      expect(linesOf([...base, event])).toHaveLength(base.length + 1);
    // It may have become a file since.
    const replaced = [...base, file('create', `${CWD}/l`)];
    expect(linesOf([...replaced, file('utimes', `${CWD}/l`)])).toHaveLength(replaced.length + 1);
  });

  it('leave what a program does with its files that stay, or with those of another', () => {
    const others = [
      file('utimes', `${CWD}/made`, { program: 2 }),
      file('chmod', `${CWD}/made`, { target: '700' }),
      file('read', '/tmp/cache', { program: 2 }),
      file('chmod', '/tmp/cache', { target: '4755' }),
      file('utimes', `${CWD}/kept`),
      file('read', `${CWD}/kept`),
      file('read', '/tmp/before'),
    ];
    const made = [
      file('mkdir', `${CWD}/made`),
      file('create', '/tmp/cache'),
      file('create', `${CWD}/kept`),
    ];
    expect(linesOf([...made, ...others])).toHaveLength(made.length + others.length);
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

  it('is not whether a program had something to say about the user', () => {
    const missing = { outcome: 'ENOENT' };
    const catalogue = '/usr/share/locale/en_US/LC_MESSAGES/bash.mo';
    expect(linesOf([file('read', catalogue, missing)])).toEqual([]);
    expect(linesOf([file('read', catalogue)])).toEqual(['read /usr/share/** *']);
    const own = file('read', `${CWD}/locale/en/LC_MESSAGES/tool.mo`, missing);
    expect(linesOf([own])).toHaveLength(1);
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

  it('may do so in a linked work tree and in a submodule, where .git is a file', () => {
    const programs = [program(1, '/usr/lib/git-core/git')];
    const again = file('read', `${CWD}/wt/f1`);
    const base = [file('read', `${CWD}/wt/.git`)];
    expect(linesOf([...base, again], { programs })).toEqual(linesOf(base, { programs }));
    const sought = [file('read', `${CWD}/wt/.git`, { outcome: 'ENOENT' })];
    expect(linesOf([...sought, again], { programs })).toHaveLength(2);
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

  it('may find objects whose names begin alike, or none, and need a directory for them', () => {
    const programs = [program(1, '/usr/lib/git-core/git'), program(2, '/usr/bin/ls')];
    const base = [file('read', `${CWD}/origin.git/HEAD`)];
    const path = `${CWD}/origin.git/objects/17`;
    for (const outcome of ['ok', 'ENOENT'])
      expect(linesOf([...base, file('read', path, { outcome })], { programs })).toEqual(
        linesOf(base, { programs }),
      );
    for (const event of [
      file('mkdir', path),
      file('mkdir', path, { outcome: 'EEXIST' }),
      file('rmdir', path),
      file('rmdir', path, { outcome: 'ENOTEMPTY' }),
    ])
      expect(linesOf([...base, event], { programs }), event.op).toEqual(
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

describe('ccache', () => {
  it('may count two entries together or not', () => {
    const programs = [program(1, '/usr/bin/ccache'), program(2, '/usr/bin/cat')];
    const path = `${CWD}/.ccache/8/stats`;
    const base = [file('create', path)];
    expect(linesOf([...base, file('read', path)], { programs })).toEqual(
      linesOf(base, { programs }),
    );
    expect(linesOf([...base, file('read', path, { program: 2 })], { programs })).toHaveLength(2);
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
