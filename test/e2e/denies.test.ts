import * as fs from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { type Outcome, PYTHON, runAssay, runScript } from './run-assay.ts';

const SECRET = 'the secret words';

/** The broker alone, the mount namespace alone, and both. */
const LAYERS = [
  ['every layer', []],
  ['no namespaces', ['--layers=-user,-mount,-pid,-net,-ipc']],
  ['no Landlock', ['--layers=-landlock']],
] as const;

/** Moves the parent of a denied file to where the kernel does not tell its name any more, and reads it there. */
const BURY = `import os
os.rename('box', 'b')
top = os.getcwd()
os.mkdir('deep'); os.chdir('deep')
for _ in range(25):
    os.mkdir('x' * 200); os.chdir('x' * 200)
here = os.open('.', os.O_RDONLY)
# carried down one level at a time: a path as a whole would be too long
os.chdir(top + '/deep')
os.rename(top + '/b', 'b')
for _ in range(25):
    os.rename('b', 'x' * 200 + '/b'); os.chdir('x' * 200)
os.chdir('b/private')
for call in (lambda: open('key').read(), lambda: open('new', 'w').write('planted')):
    try: print(call())
    except OSError as error: print('refused', error.errno)`;

describeForEachPerson('a deny inside an allow', (person) => {
  const makePlace = usePlaces(person);

  function makeSecret(): Place {
    const place = makePlace();
    place.write('home/.keys/id', SECRET);
    place.write('home/notes', 'notes\n');
    return place;
  }

  function runDenied(place: Place, script: string, flags: readonly string[]): Promise<Outcome> {
    return runScript(place, script, {
      flags: ['--allow-write', '~', '--deny', '~/.keys', '--preset', 'coding-agent', ...flags],
      cwd: place.home,
    });
  }

  it.each([
    ['a link is denied, and the place allowed', '~/other', '~/way/id'],
    ['a link is allowed, and the place denied', '~/way', '~/other/id'],
    ['both are links', '~/way', '~/lane/id'],
    ['a pattern goes through a link', '~/other', '~/way/*'],
  ])('holds where %s', async (_, allow, deny) => {
    for (const [, layers] of LAYERS) {
      const place = makePlace();
      place.write('home/other/id', SECRET);
      place.write('home/other/notes', 'notes\n');
      for (const name of ['way', 'lane']) fs.symlinkSync('other', place.at(`home/${name}`));
      const { stdout } = await runScript(place, 'cat ~/other/id ~/way/id ~/lane/id', {
        flags: ['--allow-write', allow, '--deny', deny, '--preset', 'coding-agent', ...layers],
      });
      expect(stdout).toBe('');
    }
  });

  it.each(LAYERS)('holds against every way to name it, with %s', async (_, flags) => {
    const place = makeSecret();
    const ways = [
      'cat .keys/id',
      'cat "$HOME/.keys/id"',
      'cat ./sub/../.keys/id',
      'cat /proc/self/root"$HOME"/.keys/id',
      'cat /proc/self/cwd/.keys/id',
      'cat /proc/$$/cwd/.keys/id',
      'ln -s .keys link; cat link/id',
      'ln -s .keys/id link2; cat link2',
      'ln .keys/id hard; cat hard',
      'cd .keys && cat id',
      'exec 3< .keys && cat /proc/self/fd/3/id',
      'cp -r .keys copy; cat copy/id',
      'mv .keys moved; cat moved/id',
      'mv .keys/id id; cat id',
      'ls .keys',
      'echo x > .keys/new; echo x > .keys/id; rm -rf .keys; chmod 777 .keys; touch .keys/id',
      'tar cf - .keys',
      'dd if=.keys/id',
      `${PYTHON} -c "import os; d = os.open('.keys', os.O_PATH); print(os.read(os.open('id', 0, dir_fd=d), 99))"`,
    ];
    const { stdout, code } = await runDenied(
      place,
      `mkdir sub; cat notes; ${ways.map((way) => `(${way}) 2> /dev/null`).join('\n')}\nexit 0`,
      flags,
    );
    expect({ code, isLeaked: stdout.includes(SECRET), hasListed: /^id$/m.test(stdout) }).toEqual({
      code: 0,
      isLeaked: false,
      hasListed: false,
    });
    expect(stdout).toContain('notes');
    expect(place.read('home/.keys/id')).toBe(SECRET);
    expect(fs.readdirSync(place.at('home/.keys'))).toEqual(['id']);
  });

  it.each(LAYERS)('holds for a path that does not exist yet, with %s', async (_, flags) => {
    const place = makePlace();
    const script = `mkdir .keys; mkdir -p .keys/sub; echo x > .keys/id; mkdir d && mv d .keys; ln -s /tmp .keys; mkfifo .keys; echo ready; while ! test -e go; do sleep 0.05; done; cat .keys/id; exit 0`;
    const { stdout } = await runScript(place, script, {
      flags: ['--allow-write', '~', '--deny', '~/.keys', '--preset', 'coding-agent', ...flags],
      cwd: place.home,
      onOutput: (text) => {
        if (text !== 'ready\n') return;
        expect(place.has('home/.keys')).toBe(false);
        place.write('home/.keys/id', SECRET);
        place.write('home/go');
      },
    });
    expect(stdout).toBe('ready\n');
  });

  it.each(LAYERS)('holds when its parent is renamed from inside, with %s', async (_, flags) => {
    const place = makePlace();
    place.write('home/box/private/key', SECRET);
    const script = `mv box b; cat b/private/key box/private/key; mkdir z; mv b z/ 2> /dev/null; cat z/b/private/key; exit 0`;
    for (const deny of ['~/box/private', 'private']) {
      const { stdout } = await runScript(place, script, {
        flags: ['--allow-write', '~', '--deny', deny, '--preset', 'coding-agent', ...flags],
        cwd: place.home,
      });
      expect(stdout, deny).not.toContain(SECRET);
    }
  });

  it.each(LAYERS)(
    'holds where directories are nested deeper than a path can name, with %s',
    async (_, flags) => {
      const place = makePlace();
      place.write('home/box/private/key', SECRET);
      const { stdout } = await runAssay({
        place,
        flags: [
          '-q',
          '--allow-write',
          '~',
          '--deny',
          'private',
          '--preset',
          'coding-agent',
          ...flags,
        ],
        command: [PYTHON, '-c', BURY],
        cwd: place.home,
      });
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toMatch(/^7$/m);
    },
  );

  it.each(LAYERS)(
    'holds when somebody outside replaces the denied entry, with %s',
    async (_, flags) => {
      const place = makePlace();
      place.write('work/.env', 'old secret');
      let replaced = 0;
      const { stdout } = await runScript(
        place,
        'cat .env; echo ready; while ! test -e go; do sleep 0.05; done; cat .env; ls -d .env; exit 0',
        {
          flags: ['--preset', 'coding-agent', '--deny', './.env', ...flags],
          onOutput: (text) => {
            if (replaced++ > 0 || !text.includes('ready')) return;
            place.write('work/.env.new', SECRET);
            fs.renameSync(place.at('work/.env.new'), place.at('work/.env'));
            place.write('work/go');
          },
        },
      );
      expect(stdout).not.toContain('secret');
    },
  );

  it('does not break a tool that only looks for the file', async () => {
    const place = makePlace();
    place.write('home/.gitconfig', '[user]\n\tname = someone\n');
    const outcome = await runScript(place, 'git init -q . && git status --short && echo fine', {
      flags: ['--preset', 'coding-agent', '--deny', '~/.gitconfig'],
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'fine\n' });
  });

  it('that nothing is left to enforce is said, and refused with --fail-closed', async () => {
    const place = makePlace();
    place.write('work/.env', SECRET);
    const flags = ['--preset', 'coding-agent', '--deny', '*.pem', '--layers=-broker'];
    const command = ['/bin/sh', '-c', 'touch ran'];
    const warned = await runAssay({ place, flags, command });
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('*.pem') });
    fs.rmSync(place.at('work/ran'));
    const refused = await runAssay({ place, flags: [...flags, '--fail-closed'], command });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('E_POLICY_CONFLICT_DENY_WINS_UNENFORCEABLE');
    expect(place.has('work/ran')).toBe(false);
  });
});
