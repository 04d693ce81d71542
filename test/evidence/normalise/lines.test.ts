import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { NORMALISATION_RULES } from '../../../src/evidence/normalise/rules.ts';
import { file, makeRecord, network, program } from '../make-record.ts';
import { CWD, linesOf } from './lines-of.ts';

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

  it('show the path of the working directory below another one as what it is', () => {
    const stageIn = (cwd: string): string[] => {
      const parts = cwd.slice(1).split('/');
      const steps = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
      const made = ['', ...steps.map((step) => `/${step}`), `${cwd}/bin`];
      const variables = { cwd, home: '/home/me', tmpdir: '/tmp/t', user: 'me' };
      const events = [
        ...made.map((path) => file('mkdir', `${cwd}/stage${path}`)),
        file('create', `${cwd}/stage${cwd}/bin/tool`),
      ];
      return linesOf(events, { variables });
    };
    expect(stageIn('/srv/build/project')).toEqual([
      'mkdir ${CWD}/stage ok',
      'mkdir ${CWD}/stage/${CWD} ok',
      'mkdir ${CWD}/stage/${CWD}/bin ok',
      'mkdir ${CWD}/stage/${UP} ok',
      'write ${CWD}/stage/${CWD}/bin/tool ok',
    ]);
    expect(stageIn('/srv/some/where/else')).toEqual(stageIn('/srv/build/project'));
    expect(stageIn('/project')).toContain('mkdir ${CWD}/stage/project ok');
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

  it('do not show who holds a lock that is a link', () => {
    const link = (name: string, target: string): string =>
      linesOf([file('symlink', `${CWD}/${name}`, { target })]).join();
    expect(link('stats.lock', 'vm-100123-140514370372304')).toBe(
      'symlink ${CWD}/stats.lock <*> ok',
    );
    expect(link('.#notes', 'me@build-7.100123:1700000000')).toBe('symlink ${CWD}/.#notes <*> ok');
    expect(link('yarn.lock', 'yarn-7.lock')).toBe('symlink ${CWD}/yarn.lock yarn-7.lock ok');
    expect(link('yarn.lock', '../a/100123')).toBe('symlink ${CWD}/yarn.lock ../a/<*> ok');
    expect(link('latest', 'vm-100123')).toBe('symlink ${CWD}/latest vm-<*> ok');
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

  it('hides the ports that a resolver draws, one for each question', () => {
    const bind = (ports: readonly number[], host = '0.0.0.0') =>
      ports.map((port) => network('bind', `udp:${host}:${port}`));
    const few = [18786, 2405, 31837, 4093, 55012, 1370, 40478];
    const many = [...few, 33492];
    const besides = [
      network('bind', 'udp:0.0.0.0:53'),
      network('bind', 'udp:127.0.0.1:5353'),
      network('bind', 'tcp:0.0.0.0:8080'),
      network('connect', 'udp:10.0.0.1:4093'),
    ];
    expect(linesOf(bind(few))).toEqual(few.map((port) => `bind udp:0.0.0.0:${port} ok`).sort());
    expect(linesOf([...bind(many), ...bind(few, '[::]'), ...besides])).toEqual([
      'bind tcp:0.0.0.0:8080 ok',
      'bind udp:0.0.0.0:${PORT} ok',
      'bind udp:0.0.0.0:53 ok',
      'bind udp:127.0.0.1:5353 ok',
      'bind udp:[::]:${PORT} ok',
      'connect udp:10.0.0.1:4093 ok',
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
    ['are memory with steps in its label', '/memfd:/../usr/bin/a (deleted)', '/memfd:b (deleted)'],
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
      program(5, `${CWD}/target/debug/deps/demo-0123456789abcdef`),
    ];
    const events = programs.slice(2).map(({ image }) => file('create', image));
    const runs = normalise(makeRecord(events, { programs })).lines.filter(({ op }) => op === 'run');
    expect(runs.map(({ path, target, program: by, digest }) => [by, path, target, digest])).toEqual(
      [
        ['${TMPDIR}/<*>', '${CWD}/built', undefined, undefined],
        ['/bin/sh', '${CWD}/node_modules/.bin/tool', undefined, 'ab'.repeat(32)],
        ['${CWD}/built', '${CWD}/target/debug/deps/demo-<*>', undefined, undefined],
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
  it('has the time of the first, and is known in the weakest way in which it was seen', () => {
    const events = [
      file('write', `${CWD}/a`, { atMs: 30, basis: 'performed' }),
      file('truncate', `${CWD}/a`, { atMs: 10, basis: 'predicted' }),
      file('create', `${CWD}/a`, { atMs: 20, basis: 'observed' }),
    ];
    for (const order of [events, events.toReversed()])
      expect(normalise(makeRecord(order)).lines).toContainEqual(
        expect.objectContaining({ op: 'write', atMs: 10, basis: 'observed' }),
      );
  });
});
