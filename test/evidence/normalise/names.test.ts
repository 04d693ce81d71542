import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { escapeLiteral } from '../../../src/evidence/normalise/places.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import type { Event } from '../../../src/observe/event.ts';
import { file, makeRecord, network, NOON_MS } from '../make-record.ts';

const CWD = '/home/me/project';

/** The form of `path` after a run that made it and kept it. */
function kept(path: string, more: Partial<RunRecord> = {}): string {
  return normalise(makeRecord([file('create', path)], more)).pathOf(path);
}

/** The form of `path` after a run that made it and removed it. */
function passing(path: string, others: readonly Event[] = []): string {
  const events = [file('create', path), file('unlink', path), ...others];
  return normalise(makeRecord(events)).pathOf(path);
}

/** The form of `path` after a run that only read it. */
function found(path: string, more: Partial<RunRecord> = {}): string {
  return normalise(makeRecord([file('read', path)], more)).pathOf(path);
}

describe('places', () => {
  it.each([
    ['/home/me/project', '${CWD}'],
    ['/home/me/project/src/a.ts', '${CWD}/src/a.ts'],
    ['/home/me/projects', '${HOME}/projects'],
    ['/home/me/.cache', '${HOME}/.cache'],
    ['/tmp/private/x', '${TMPDIR}/x'],
    ['/tmp/x', '${TMPDIR}/x'],
    ['/var/tmp/x', '${TMPDIR}/x'],
    ['/run/user/1000/bus', '/run/user/${UID}/bus'],
    ['/etc/passwd', '/etc/passwd'],
    ['/', '/'],
    ['/home', '${CWD}/../..'],
    ['/home/other/x', '/home/other/x'],
  ])('%s is %s', (path, form) => {
    expect(found(path)).toBe(form);
  });

  it('let the directory above go with the working directory', () => {
    const variables = { cwd: '/srv/w/a', home: '/home/me', tmpdir: '/tmp/t', user: 'me' };
    expect(found('/srv/w/shared.txt', { variables })).toBe('${CWD}/../shared.txt');
    expect(found('/srv/w', { variables })).toBe('${CWD}/..');
    const inUsr = { ...variables, cwd: '/usr/lib/a' };
    expect(found('/usr/lib/x.so', { variables: inUsr })).toBe('/usr/lib/x.so');
  });

  it('keep a working directory in the tmp apart from the tmp', () => {
    const variables = { cwd: '/tmp/w/a', home: '/home/me', tmpdir: '/tmp/t', user: 'me' };
    expect(kept('/tmp/w/a/qzxvkw', { variables })).toBe('${CWD}/qzxvkw');
  });

  it('do nothing for / as working directory or home', () => {
    const variables = { cwd: '/', home: '/', tmpdir: '/tmp/t', user: 'me' };
    expect(found('/etc/passwd', { variables })).toBe('/etc/passwd');
  });

  it('are found in options and addresses that were taken for paths', () => {
    const missing = (path: string): string =>
      normalise(makeRecord([file('read', path, { outcome: 'ENOENT' })])).pathOf(path);
    expect(missing(`${CWD}/-fplugin=/tmp/private/x.res`)).toBe('${CWD}/-fplugin=${TMPDIR}/x.res');
    expect(missing(`${CWD}/file:/home/me/a`)).toBe('${CWD}/file:${HOME}/a');
    expect(missing(`${CWD}/a=/etc/passwd`)).toBe('${CWD}/a=/etc/passwd');
    expect(missing('/usr/a=b/c')).toBe('/usr/a=b/c');
  });

  it('keep names apart that look like forms', () => {
    expect(found(`${CWD}/<*>`)).toBe('${CWD}/<\\*>');
    expect(found(`${CWD}/\${HOME}`)).toBe('${CWD}/$\\{HOME}');
    expect(found(`${CWD}/<\\*>`)).toBe('${CWD}/<\\\\*>');
    expect(found(`${CWD}/$\\{HOME}`)).toBe('${CWD}/$\\\\{HOME}');
    expect(normalise(makeRecord([], { command: ['echo', '${HOME}'] })).command).not.toEqual(
      normalise(makeRecord([], { command: ['echo', '/home/me'] })).command,
    );
  });

  it.each(['a\\b', '\\xff', 'a\\\\b', '\\${', '{\\$', '<\\>'])(
    'leave %j as the record has it, since it looks like none',
    (name) => {
      const form = name.replace('${', '$\\{');
      expect(found(`${CWD}/${name}`)).toBe(`\${CWD}/${form}`);
      expect(normalise(makeRecord([], { command: [name] })).command).toEqual([form]);
    },
  );

  it('never make one text of two', () => {
    const texts = fc.string({ unit: fc.constantFrom('$', '{', '}', '\\', '<', '*', '>') });
    fc.assert(
      fc.property(texts, (text) => {
        const form = escapeLiteral(text);
        expect(form).not.toMatch(/\$\{|<\*>/);
        expect(form.replace(/\$\\(?=\\*\{)|<\\(?=\\*\*>)/g, ([first = '']) => first)).toBe(text);
      }),
    );
  });

  it('are found in arguments', () => {
    const command = [
      '/home/me/bin/x',
      '--dir=/home/me/project/a',
      '/home/me2',
      'a/home/me',
      'p:/tmp:',
    ];
    expect(normalise(makeRecord([], { command })).command).toEqual([
      '${HOME}/bin/x',
      '--dir=${CWD}/a',
      '/home/me2',
      'a/home/me',
      'p:${TMPDIR}:',
    ]);
  });
});

describe('directories written into one name', () => {
  it.each([
    ['-home-me-project', '${CWD-}'],
    ['home_me_project.json', '${CWD-}.json'],
    ['%2Fhome%2Fme%2Fproject', '${CWD-}'],
    ['--home-me-project--', '-${CWD-}--'],
    ['-home-me-project-src', '${CWD-}-src'],
    ['-home-me', '${HOME-}'],
    ['-home-me-projects', '${HOME-}-projects'],
    ['my-project', 'my-project'],
  ])('%s is %s', (name, form) => {
    expect(kept(`/home/me/.agent/${name}/x`)).toBe(`\${HOME}/.agent/${form}/x`);
  });

  it('are found whether they were there before or not', () => {
    expect(found('/home/me/.agent/-home-me-project')).toBe('${HOME}/.agent/${CWD-}');
  });
});

describe('users', () => {
  it.each([
    ['/tmp/claude-1000', '${TMPDIR}/claude-${UID}'],
    ['/tmp/pytest-of-me', '${TMPDIR}/pytest-of-${USER}'],
    ['/tmp/part-10001', '${TMPDIR}/part-<*>'],
    ['/tmp/me-too', '${TMPDIR}/me-too'],
  ])('%s is %s', (path, form) => {
    expect(kept(path)).toBe(form);
  });

  it('are not seen in what stays', () => {
    expect(kept(`${CWD}/part-1000`)).toBe('${CWD}/part-1000');
    expect(kept(`${CWD}/about-me`)).toBe('${CWD}/about-me');
  });

  it('are not seen in numbers that count', () => {
    const events = [0, 1, 2].map((index) => file('create', `/tmp/part-${index}`));
    const { pathOf } = normalise(makeRecord(events, { uid: 0 }));
    expect(pathOf('/tmp/part-0')).toBe('${TMPDIR}/part-<*>');
  });

  it('are not seen in versions', () => {
    expect(kept('/tmp/pip-23.0.1-py3-none-any.whl', { uid: 0 })).toBe(
      '${TMPDIR}/pip-23.0.1-py3-none-any.whl',
    );
  });
});

const UUID = '0198a2b0-1111-7222-8333-444455556666';

describe('names that stay', () => {
  it.each([
    [`session-${UUID}.jsonl`, 'session-<*>.jsonl'],
    ['log-20261115-120001', 'log-<*>'],
    ['2026-11-15T12_00_01_882Z-debug-0.log', '<*>-debug-0.log'],
    ['2026-11-16.log', '<*>.log'],
    [`backup.${NOON_MS + 1234}`, 'backup.<*>'],
    [`b-${NOON_MS / 1000 + 2}`, 'b-<*>'],
    ['run-100123.pid', 'run-<*>.pid'],
    ['s-h9k2l3m4n5-1a2b3c-working', 's-<*>-working'],
    ['claude-abcd-cwd', 'claude-<*>-cwd'],
    [`snapshot-bash-${NOON_MS}-x1y2z3.sh`, 'snapshot-bash-<*>.sh'],
  ])('%s is %s', (name, form) => {
    expect(kept(`${CWD}/${name}`)).toBe(`\${CWD}/${form}`);
  });

  it.each([
    'report-2024.csv',
    'data-20240101.csv',
    '2026-11-18.log',
    'main.4f3c2a1b.js',
    'chunk-AbC123.js',
    'deadbeefcafe',
    'qzxvkw',
    'tmpx8Zk2Q',
    'a'.repeat(40),
    'd41d8cd98f00b204e9800998ecf8427e',
    'build-100500.log',
    'build-1234567890',
    '2026',
    'libfoo.so.1.100',
    'x100123',
  ])('%s stays', (name) => {
    expect(kept(`${CWD}/${name}`)).toBe(`\${CWD}/${name}`);
  });

  it('are not touched when they were there before', () => {
    expect(found(`${CWD}/session-${UUID}.jsonl`)).toBe(`\${CWD}/session-${UUID}.jsonl`);
    const replaced = file('rename', `${CWD}/new`, { target: `${CWD}/${UUID}`, isReplacing: true });
    expect(normalise(makeRecord([replaced])).pathOf(`${CWD}/${UUID}`)).toBe(`\${CWD}/${UUID}`);
  });

  it('keep small numbers even where process numbers are small', () => {
    const pids = [{ first: 2, last: 9000 }];
    for (const name of ['mod.cpython-311.pyc', 'chapter-12.md', 'a-2026'])
      expect(kept(`${CWD}/${name}`, { pids })).toBe(`\${CWD}/${name}`);
    expect(kept(`${CWD}/run-12.pid`, { pids })).toBe('${CWD}/run-<*>.pid');
    expect(kept('/home/me/.claude/sessions/12.json')).toBe('${HOME}/.claude/sessions/<*>.json');
  });
});

describe('dates as directories', () => {
  const path = '/home/me/.codex/sessions/2026/11/15/a.jsonl';

  it('are folded on the day of the run', () => {
    expect(kept(path)).toBe('${HOME}/.codex/sessions/<*>/<*>/<*>/a.jsonl');
    const { pathOf } = normalise(makeRecord([file('create', path)]));
    expect(pathOf('/home/me/.codex/sessions/2026')).toBe('${HOME}/.codex/sessions/<*>');
  });

  it('stay on any other day, and where nothing was made in them', () => {
    expect(kept('/home/me/p/2026/11/12/a')).toBe('${HOME}/p/2026/11/12/a');
    expect(kept('/home/me/p/2026/13/15/a')).toBe('${HOME}/p/2026/13/15/a');
    expect(found(path)).toBe('${HOME}/.codex/sessions/2026/11/15/a.jsonl');
  });
});

describe('stores', () => {
  const hex = '0123456789abcdef'.repeat(4);

  it.each([
    [`.git/objects/ab/${hex.slice(0, 38)}`, '.git/objects/<*>/<*>'],
    [`.git/objects/pack/pack-${hex.slice(0, 40)}.idx`, '.git/objects/pack/pack-<*>.idx'],
    [`_cacache/content-v2/sha512/ab`, '_cacache/content-v2/sha512/<*>'],
    [`pip/http-v2/a`, 'pip/http-v2/<*>'],
    [`target/debug/deps/demo-${hex.slice(0, 16)}.d`, 'target/debug/deps/demo-<*>.d'],
    [`deps/demo-${hex.slice(0, 16)}.d`, `deps/demo-${hex.slice(0, 16)}.d`],
    [`objects/abc/${hex.slice(0, 38)}`, `objects/abc/${hex.slice(0, 38)}`],
  ])('%s is %s', (path, form) => {
    expect(kept(`${CWD}/${path}`)).toBe(`\${CWD}/${form}`);
  });

  it('leave the objects of a repository that got none', () => {
    expect(found(`${CWD}/.git/objects/ab/${hex.slice(0, 38)}`)).toContain('/objects/ab/0123');
  });
});

describe('names that nobody finds after the run', () => {
  it.each([
    ['ccAb3dEf.s', '<*>.s'],
    ['qzxvkw', '<*>'],
    ['tmp_obj_x8Zk2Q', 'tmp_obj_<*>'],
    ['main-P8Sago', 'main-<*>'],
    ['V1StGXR8_Z5jdHi6B-myT', '<*>'],
    ['mod.cpython-311.pyc.140514370372304', 'mod.cpython-311.pyc.<*>'],
    ['UHM6Do21aV1DpWImIm5B-', '<*>'],
    ['a.12.tmp', 'a.<*>.tmp'],
    ['answer.js.tmp.324.7f3a91c2', 'answer.js.tmp.<*>'],
    ['answer.js.tmp.324.af3a91c2', 'answer.js.tmp.<*>'],
    ['step-7', 'step-<*>'],
  ])('%s is %s', (name, form) => {
    expect(passing(`${CWD}/${name}`)).toBe(`\${CWD}/${form}`);
    expect(kept(`/tmp/${name}`)).toBe(`\${TMPDIR}/${form}`);
    expect(kept(`/dev/shm/${name}`)).toBe(`/dev/shm/${form}`);
  });

  it.each([
    'README',
    'config.json',
    'payload',
    'exploit.sh',
    'report-2024.csv',
    'report2024.csv',
    'data-20240101.csv',
    'id_rsa',
    'index.lock',
    'My-Settings-Dialog-v1',
    'getUserNames.test.ts',
    'new_log_dir',
    'sha256',
    'out.o',
    'package-4.17.21.tgz',
    'mod.cpython-311.pyc',
    'greet-1.0-py3-none-any.whl',
    'python3.11',
    'utf-8.txt',
  ])('%s stays', (name) => {
    expect(passing(`${CWD}/${name}`)).toBe(`\${CWD}/${name}`);
  });

  it('keep what the run uses in names that stay', () => {
    const others = [file('read', `${CWD}/src/qzxvkw.c`)];
    expect(passing(`${CWD}/qzxvkw.o`, others)).toBe('${CWD}/qzxvkw.o');
  });

  it('keep the name that they are renamed to', () => {
    const path = `${CWD}/qzxvkw.json.k2j4h6`;
    const rename = file('rename', path, { target: `${CWD}/qzxvkw.json` });
    const { pathOf } = normalise(makeRecord([rename, file('create', path)]));
    expect(pathOf(path)).toBe('${CWD}/qzxvkw.json.<*>');
  });

  it('do not keep what they are renamed to when that is a name for a moment, too', () => {
    const target = `${CWD}/cmTC_01fff_loc`;
    const path = `${target}.k2j4h6`;
    const events = [file('create', path), file('rename', path, { target }), file('unlink', target)];
    const { pathOf } = normalise(makeRecord(events));
    expect(pathOf(path)).toBe('${CWD}/<*>');
    expect(pathOf(target)).toBe('${CWD}/<*>');
  });

  it('are known by how they ended, where that is known', () => {
    const path = `${CWD}/qzxvkw`;
    const events = [file('create', path), file('unlink', path)];
    const finalStates = new Map([[path, 'changed' as const]]);
    expect(normalise(makeRecord(events, { finalStates })).pathOf(path)).toBe('${CWD}/qzxvkw');
  });

  it('count what lies in a directory that is gone, and what was never made', () => {
    const events = [
      file('mkdir', `${CWD}/.work-k2j4h6`),
      file('create', `${CWD}/.work-k2j4h6/x8Zk2Qa`),
      file('rename', `${CWD}/.work-k2j4h6`, { target: `${CWD}/done`, isDirectory: true }),
      file('create', '/etc/x8Zk2Qb', { outcome: 'EACCES' }),
    ];
    const { pathOf } = normalise(makeRecord(events));
    expect(pathOf(`${CWD}/.work-k2j4h6/x8Zk2Qa`)).toBe('${CWD}/.work-<*>/<*>');
    expect(pathOf('/etc/x8Zk2Qb')).toBe('/etc/<*>');
  });

  it('are masked wherever else they stand', () => {
    const { pathOf } = normalise(
      makeRecord([
        file('create', '/tmp/run-k2j4h6'),
        file('read', '/etc/k2j4h6.conf', { outcome: 'ENOENT' }),
      ]),
    );
    expect(pathOf('/etc/k2j4h6.conf')).toBe('/etc/<*>.conf');
  });

  it('include what was looked for in the tmp and never made, with the directories on the way', () => {
    const missing = { outcome: 'ENOENT' };
    const { pathOf } = normalise(
      makeRecord([
        file('mkdir', '/tmp/private/UHM6Do21aV1DpWImIm5B-/ssr', missing),
        file('read', '/dev/shm/sem.x8Zk2Q', missing),
        file('read', '/tmp/report.txt', missing),
        file('read', `${CWD}/sem.x8Zk2Q`, missing),
      ]),
    );
    expect(pathOf('/tmp/private/UHM6Do21aV1DpWImIm5B-/ssr')).toBe('${TMPDIR}/<*>/ssr');
    expect(pathOf('/dev/shm/sem.x8Zk2Q')).toBe('/dev/shm/sem.<*>');
    expect(pathOf('/tmp/report.txt')).toBe('${TMPDIR}/report.txt');
    // Elsewhere, and by itself, it is a name like any other.
    expect(pathOf(`${CWD}/sem.x8Zk2Q`)).toBe('${CWD}/sem.x8Zk2Q');
  });

  it('are of the kind of their masked siblings, even when one reads as a word', () => {
    const random = ['sum-x8Zk2Q', 'sum-k2j4h6', 'sum-P8Sagq'];
    const formsOf = (names: readonly string[]): string[] => {
      const { pathOf } = normalise(makeRecord(names.map((name) => file('mkdir', `/tmp/${name}`))));
      return names.map((name) => pathOf(`/tmp/${name}`));
    };
    expect(new Set(formsOf([...random, 'sum-abyss3']))).toEqual(new Set(['${TMPDIR}/sum-<*>']));
    // Two of them are no chance, and neither is another length, beginning or end.
    expect(formsOf([...random, 'sum-abyss3', 'sum-reader'])).toContain('${TMPDIR}/sum-reader');
    expect(formsOf([...random, 'sum-readers'])).toContain('${TMPDIR}/sum-readers');
    expect(formsOf([...random, 'out-reader'])).toContain('${TMPDIR}/out-reader');
    expect(formsOf([...random, 'sum_reader'])).toContain('${TMPDIR}/sum_reader');
  });

  it('include sockets, with or without a path', () => {
    const { lines } = normalise(
      makeRecord([network('bind', 'unix:/tmp/s-x8Zk2Q'), network('bind', 'unix:@dbus-x8Zk2Q')]),
    );
    const paths = lines.filter(({ op }) => op === 'bind').map(({ path }) => path);
    expect(paths).toEqual(['unix:${TMPDIR}/s-<*>', 'unix:@dbus-<*>']);
  });
});

describe('what was made in a directory that was moved', () => {
  it('is born at its new place', () => {
    const events = [
      file('mkdir', `${CWD}/a`),
      file('create', `${CWD}/a/${UUID}`),
      file('rename', `${CWD}/a`, { target: `${CWD}/b`, isDirectory: true }),
      file('rename', `${CWD}/b`, { target: `${CWD}/c`, isDirectory: true }),
    ];
    const movedContents = new Map([[`${CWD}/c`, [UUID, 'other']]]);
    const { pathOf } = normalise(makeRecord(events, { movedContents }));
    expect(pathOf(`${CWD}/c/${UUID}`)).toBe('${CWD}/c/<*>');
  });
});

describe('what the kernel numbers', () => {
  it.each([
    ['/proc/100123/stat', '/proc/${PID}/stat'],
    ['/proc/7/environ', '/proc/${OTHER-PID}/environ'],
    ['/proc/self/maps', '/proc/self/maps'],
    ['/proc/100123/task/100124/comm', '/proc/${PID}/task/${PID}/comm'],
    ['/proc/100123/fd/12', '/proc/${PID}/fd/${N}'],
    ['/proc/meminfo', '/proc/meminfo'],
    ['/dev/pts/3', '/dev/pts/${N}'],
    ['pipe:[8436008]', 'pipe:[${N}]'],
    ['socket:[8436008]', 'socket:[${N}]'],
    ['net:[4026532327]', 'net:[${N}]'],
    ['anon_inode:[eventfd]', 'anon_inode:[eventfd]'],
    ['/memfd:payload (deleted)', '/memfd:${N}'],
    [`${CWD}/#2214409 (deleted)`, '${CWD}/#${N}'],
    [`${CWD}/#2214409`, '${CWD}/#2214409'],
    [`${CWD}/pipe:[8436008]`, '${CWD}/pipe:[8436008]'],
  ])('%s is %s', (path, form) => {
    expect(found(path)).toBe(form);
  });
});

describe('what was folded', () => {
  it('is counted by form, with the rules that did it', () => {
    const events = ['x8Zk2Q', 'k2j4h6', 'config'].map((name) => file('create', `/tmp/${name}.o`));
    expect(normalise(makeRecord(events)).folded).toEqual([
      { path: '${TMPDIR}/<*>.o', count: 2, rules: ['loose'] },
    ]);
  });

  it('is counted as well where the kernel numbers, and where a search led upwards', () => {
    const missing = { outcome: 'ENOENT' };
    const events = [
      file('read', 'pipe:[11]'),
      file('read', 'pipe:[12]'),
      file('read', '/proc/100123/stat'),
      ...[CWD, '/home/me', '/home'].map((at) => file('read', `${at}/.tool/rules`, missing)),
    ];
    expect(normalise(makeRecord(events)).folded).toEqual([
      { path: '${UP}/.tool/rules', count: 2, rules: ['upward-search'] },
      { path: '/proc/${PID}/stat', count: 1, rules: ['kernel-numbers'] },
      { path: 'pipe:[${N}]', count: 2, rules: ['kernel-numbers'] },
    ]);
  });
});
