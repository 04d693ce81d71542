import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { file, makeRecord, network } from '../make-record.ts';
import { CWD, kept, passing } from './forms.ts';

describe('names that nobody finds after the run', () => {
  it.each([
    ['ccAb3dEf.s', '<*>.s'],
    ['qzxvkw', '<*>'],
    ['tmp_obj_x8Zk2Q', 'tmp_obj_<*>'],
    ['refs_x8Zk2Q', 'refs_<*>'],
    ['js_x8zk2q', '<*>'],
    ['.#lk0x000055d0c8a7b2a0.vm.310', '.#lk0x<*>'],
    ['.#lk0x0000a5d0c8a7b2ff.build-7.example.org.100123x', '.#lk0x<*>x'],
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
    'conftest',
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

  it.each([
    'a_PID',
    'odd_tmp_PID',
    '_tmp_PID',
    'lib_file_PID',
    'qzxvkw_tmp_PID',
    'some-words_PID',
    'valgrind_proc_PID_cmdline_1a2b3c4d',
    'cache_PID_file',
    'cache_PID_PID',
  ])('do not show by %s whether process numbers are high', (name) => {
    const formOf = (pid: number): string => {
      const path = `/tmp/${name.replaceAll('PID', String(pid))}`;
      const pids = [{ first: pid - 10, last: pid + 10 }];
      return normalise(makeRecord([file('create', path)], { pids })).pathOf(path);
    };
    expect(formOf(100_123)).toContain('<*>');
    for (const pid of [310, 4321]) expect(formOf(pid)).toBe(formOf(100_123));
  });

  it('keep numbers behind an underscore that are no process', () => {
    const pids = [{ first: 300, last: 400 }];
    const formOf = (name: string): string => kept(`/tmp/${name}`, { pids });
    expect(formOf('library_files_310')).toBe('${TMPDIR}/library_files_<*>');
    expect(formOf('library_files_410')).toBe('${TMPDIR}/library_files_410');
    expect(formOf('abqd_345')).toBe('${TMPDIR}/<*>');
  });

  it('keep what the run uses in names that stay', () => {
    const others = [file('read', `${CWD}/src/qzxvkw.c`)];
    expect(passing(`${CWD}/qzxvkw.o`, others)).toBe('${CWD}/qzxvkw.o');
  });

  it('leave a name as it is that came by a rename alone and was looked for elsewhere', () => {
    const [lock, head, log] = ['ORIG_HEAD.lock', 'ORIG_HEAD', 'logs/ORIG_HEAD'].map(
      (name) => `${CWD}/.git/${name}`,
    ) as [string, string, string];
    const events = [
      file('create', lock),
      file('rename', lock, { target: head }),
      file('write', log, { outcome: 'ENOENT' }),
    ];
    const { pathOf } = normalise(makeRecord(events));
    expect([head, log].map(pathOf)).toEqual([
      '${CWD}/.git/ORIG_HEAD',
      '${CWD}/.git/logs/ORIG_HEAD',
    ]);
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

  it('do not count what lies where something could not be put, since something was there', () => {
    const [directory, path] = [`${CWD}/src`, `${CWD}/src/k2j4h6.sh`];
    const failed = { target: directory, outcome: 'ENOENT' };
    const finalStates = new Map([[path, 'changed' as const]]);
    for (const op of ['create', 'read'] as const) {
      const events = [file('rename', `${CWD}/nowhere`, failed), file(op, path)];
      expect(normalise(makeRecord(events, { finalStates })).pathOf(path)).toBe(
        '${CWD}/src/k2j4h6.sh',
      );
    }
    const other = file('rename', `${CWD}/x`, { target: path, outcome: 'ENOENT' });
    expect(normalise(makeRecord([other, file('read', path)])).pathOf(path)).toBe(
      '${CWD}/src/k2j4h6.sh',
    );
    const full = file('rename', `${CWD}/x`, { target: path, outcome: 'ENOTEMPTY' });
    expect(normalise(makeRecord([full])).pathOf(path)).toBe('${CWD}/src/k2j4h6.sh');
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

  it('include the directories that a cache spreads them over', () => {
    const formsOf = (...names: readonly string[]): string[] => {
      const { pathOf } = normalise(makeRecord(names.map((name) => file('mkdir', `/tmp/${name}`))));
      return names.map((name) => pathOf(`/tmp/${name}`));
    };
    expect(formsOf('cc', 'cc/x8Zk2Q', 'cc/k2j4h6.map', 'ab', 'ab/0f', 'ab/0f/P8Sagq')).toEqual([
      '${TMPDIR}/<*>',
      '${TMPDIR}/<*>/<*>',
      '${TMPDIR}/<*>/<*>.map',
      '${TMPDIR}/<*>',
      '${TMPDIR}/<*>/<*>',
      '${TMPDIR}/<*>/<*>/<*>',
    ]);
    // One that is empty or holds a name that stays, and one that is no part of a digest.
    const others = ['cc', 'dd', 'dd/x8Zk2Q', 'dd/report', 'go', 'go/x8Zk2Q'];
    expect(formsOf(...others)).toEqual(
      others.map((name) => `\${TMPDIR}/${name.replace('x8Zk2Q', '<*>')}`),
    );
  });

  it('include sockets, with or without a path', () => {
    const { lines } = normalise(
      makeRecord([network('bind', 'unix:/tmp/s-x8Zk2Q'), network('bind', 'unix:@dbus-x8Zk2Q')]),
    );
    const paths = lines.filter(({ op }) => op === 'bind').map(({ path }) => path);
    expect(paths).toEqual(['unix:${TMPDIR}/s-<*>', 'unix:@dbus-<*>']);
  });
});
