import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import { escapeLiteral } from '../../../src/evidence/normalise/places.ts';
import { file, makeRecord, NOON_MS } from '../make-record.ts';
import { CWD, found, kept } from './forms.ts';

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
    ['/run/dconf/user/1000', '/run/dconf/user/${UID}'],
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
    ['/tmp/claude-1000', '${TMPDIR}/claude-<*>'],
    ['/tmp/pytest-of-me', '${TMPDIR}/pytest-of-${USER}'],
    ['/tmp/part-10001', '${TMPDIR}/part-<*>'],
    ['/tmp/me-too', '${TMPDIR}/me-too'],
  ])('%s is %s', (path, form) => {
    expect(kept(path)).toBe(form);
  });

  it.each(['root', 'me', 'www-data', 'ada.b'])(
    'such as %s are seen behind an underscore',
    (user) => {
      const { variables } = makeRecord([]);
      const formOf = (name: string): string =>
        kept(`/tmp/${name}`, { variables: { ...variables, user } });
      expect(formOf(`hsperfdata_${user}`)).toBe('${TMPDIR}/<*>${USER}');
      expect(formOf(`session_${user}`)).toBe('${TMPDIR}/session_${USER}');
      expect(formOf('k2j_me')).toBe('${TMPDIR}/<*>');
    },
  );

  it('are not seen in what stays', () => {
    expect(kept(`${CWD}/part-1000`)).toBe('${CWD}/part-1000');
    expect(kept(`${CWD}/about-me`)).toBe('${CWD}/about-me');
  });

  it.each([0, 1, 33, 1000, 2001, 54_321, 1_000_000])(
    'do not make a difference by their number, such as %i',
    (uid) => {
      const formsOf = (names: readonly string[]): string[] => {
        const events = names.map((name) => file('create', `/tmp/${name}`));
        const seen = file('read', `/run/user/${uid}/bus`);
        const { pathOf } = normalise(makeRecord([...events, seen], { uid }));
        return names.map((name) => pathOf(`/tmp/${name}`));
      };
      expect(formsOf([`claude-${uid}`, `x.${uid}.k2j4h6`])).toEqual([
        '${TMPDIR}/claude-<*>',
        '${TMPDIR}/x.<*>',
      ]);
      const others = ['0', 'out.0', 'run-debug-0.log', 'sha-1.txt', 'a-1.0.tgz', 'utf-33', '33.sh'];
      expect(formsOf(others)).toEqual(
        ['<*>', 'out.<*>', 'run-debug-<*>.log', 'sha-1.txt', 'a-1.0.tgz', 'utf-33', '<*>.sh'].map(
          (name) => `\${TMPDIR}/${name}`,
        ),
      );
    },
  );

  it('are not seen in numbers that count', () => {
    const events = [2000, 2001].map((year) => file('create', `/tmp/report-${year}`));
    const { pathOf } = normalise(makeRecord(events, { uid: 2001 }));
    expect(pathOf('/tmp/report-2001')).toBe('${TMPDIR}/report-2001');
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
    ['2026-11-15_12-00-01.log', '<*>.log'],
    ['2026-11-15_12.00.01UTC.log', '<*>UTC.log'],
    ['2026-11-15T12h00m01s', '<*>s'],
    ['20261115120001882', '<*>'],
    ['20261115120001UTC', '<*>UTC'],
    ['2026-11-15T12-00-45abcdef', '<*>-45abcdef'],
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

describe('process numbers that are low', () => {
  const pids = [{ first: 300, last: 2100 }];

  it.each([
    ['log.310', 'log.<*>'],
    ['massif.out.1310', 'massif.out.<*>'],
    ['log.299', 'log.299'],
    ['log.0310', 'log.0310'],
    ['report.2024', 'report.2024'],
    ['libnl-3.so.310', 'libnl-3.so.310'],
    ['release-1.310', 'release-1.310'],
    ['log-310.txt', 'log-310.txt'],
  ])('are seen behind the last dot only: %s is %s', (name, form) => {
    expect(kept(`${CWD}/${name}`, { pids })).toBe(`\${CWD}/${form}`);
  });

  it('are none where a series has other numbers, too', () => {
    const formsOf = (numbers: readonly string[]): string[] => {
      const paths = numbers.map((number) => `${CWD}/part.${number}`);
      const { pathOf } = normalise(
        makeRecord(
          paths.map((path) => file('create', path)),
          { pids },
        ),
      );
      return paths.map((path) => pathOf(path));
    };
    expect(formsOf(['299', '300', '301'])).toContain('${CWD}/part.300');
    expect(formsOf(['000', '310'])).toContain('${CWD}/part.310');
    expect(new Set(formsOf(['310', '311']))).toEqual(new Set(['${CWD}/part.<*>']));
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
    [`.store/v3/files/ab/${hex}${hex.slice(2)}-exec`, '.store/v3/files/ab/<*>-exec'],
    ['.store/v3/files/ab', '.store/v3/files/<*>'],
    [`store/v10/index/ab/${hex.slice(2)}-a@1.0.0.json`, 'store/v10/index/ab/<*>-a@1.0.0.json'],
    [
      `gpg/private-keys-v1.d/${hex.slice(0, 40).toUpperCase()}.key`,
      'gpg/private-keys-v1.d/<*>.key',
    ],
    [`gpg/openpgp-revocs.d/${hex.slice(0, 40).toUpperCase()}.rev`, 'gpg/openpgp-revocs.d/<*>.rev'],
    [`gpg/${hex.slice(0, 40).toUpperCase()}.key`, `gpg/${hex.slice(0, 40).toUpperCase()}.key`],
    [`cache/01/${hex}-a`, 'cache/<*>/<*>-a'],
    [`cache/01/sum_${hex.slice(0, 32)}.map`, 'cache/<*>/sum_<*>.map'],
    [`cache/map-${hex.slice(0, 32)}-${hex.slice(0, 32)}`, 'cache/map-<*>'],
    [`cache/02/${hex}-a`, `cache/02/${hex}-a`],
    [`cache/01/${hex.slice(0, 20)}`, `cache/01/${hex.slice(0, 20)}`],
    [`cache/map-${hex.slice(0, 32)}`, `cache/map-${hex.slice(0, 32)}`],
    ['.home/.gemini/history/project', '.home/.gemini/history/<*>'],
    [
      '.gemini/tmp/project/chats/session-2026-11-15T12-00-0b1080a4.jsonl',
      '.gemini/tmp/project/chats/session-<*>.jsonl',
    ],
    [
      '.gemini/tmp/project/chats/session-2026-11-15T12-00-45abcdef.jsonl',
      '.gemini/tmp/project/chats/session-<*>.jsonl',
    ],
    [
      '.gemini/tmp/project/chats/session-2026-11-15T12-00-45123456.jsonl',
      '.gemini/tmp/project/chats/session-<*>.jsonl',
    ],
    ['.gemini/tmp/bin', '.gemini/tmp/bin'],
    ['api/v1/files/ab', 'api/v1/files/ab'],
    [`deps/demo-${hex.slice(0, 16)}.d`, `deps/demo-${hex.slice(0, 16)}.d`],
    [`objects/abc/${hex.slice(0, 38)}`, `objects/abc/${hex.slice(0, 38)}`],
  ])('%s is %s', (path, form) => {
    expect(kept(`${CWD}/${path}`)).toBe(`\${CWD}/${form}`);
  });

  it('include the objects of a repository that has them elsewhere', () => {
    const path = `${CWD}/shared.git/objects/ab/${hex.slice(0, 38)}`;
    const record = makeRecord([file('read', path, { outcome: 'ENOENT' })]);
    expect(normalise(record).pathOf(path)).toContain('/objects/<*>/0123');
  });

  it('include what was looked for in a cache that got something else', () => {
    const [path, made] = [`${CWD}/cache/01/${hex}-a`, `${CWD}/cache/ab/ab${hex.slice(2)}-d`];
    const sought = file('read', path, { outcome: 'ENOENT' });
    const { pathOf } = normalise(makeRecord([sought, file('create', made)]));
    expect(pathOf(path)).toBe('${CWD}/cache/<*>/<*>-a');
    expect(normalise(makeRecord([sought])).pathOf(path)).toContain('/cache/01/0123');
  });

  it('of ccache do not show the digests, nor where it keeps count of them', () => {
    const entry = '2335k0tdlf4orqupmkgdt4kqhdnprec';
    const paths = [
      'b/CACHEDIR.TAG',
      `b/c/${entry}R`,
      `8/4/k/${entry.slice(1)}M`,
      '3/6/stats',
      'tmp/a',
      `tmp/${entry}R`,
      'z.conf',
    ];
    const formsOf = (root: string): string[] => {
      const events = paths.map((path) => file('create', `${CWD}/${root}/${path}`));
      const sought = file('read', `${CWD}/${root}/1/0/${entry}M`, { outcome: 'ENOENT' });
      const { pathOf } = normalise(makeRecord([...events, sought]));
      return [...events, sought].map(({ path }) => pathOf(path));
    };
    expect(formsOf('.ccache')).toEqual(
      [
        '<*>/CACHEDIR.TAG',
        '<*>/<*>/<*>R',
        '<*>/<*>/<*>/<*>M',
        '<*>/<*>/stats',
        'tmp/a',
        `tmp/${entry}R`,
        'z.conf',
        '<*>/<*>/<*>M',
      ].map((path) => `\${CWD}/.ccache/${path}`),
    );
    expect(formsOf('other').slice(0, -1)).toEqual(paths.map((path) => `\${CWD}/other/${path}`));
  });

  it('do not take the name of a project for random', () => {
    const events = ['.gemini/tmp/website', 'website.html'].map((name) => `${CWD}/${name}`);
    const { pathOf } = normalise(makeRecord(events.map((path) => file('create', path))));
    expect(events.map((path) => pathOf(path))).toEqual([
      '${CWD}/.gemini/tmp/<*>',
      '${CWD}/website.html',
    ]);
  });

  it('leave the objects of a repository that got none', () => {
    expect(found(`${CWD}/.git/objects/ab/${hex.slice(0, 38)}`)).toContain('/objects/ab/0123');
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
    ['/proc/0/cmdline', '/proc/${PID}/cmdline'],
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
