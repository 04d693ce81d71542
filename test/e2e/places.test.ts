import * as fs from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { ASSAY, runAssay, runBare, runForSummary, runScript } from './run-assay.ts';

const CODING = ['--preset', 'coding-agent'];
const WORK = 'pwd; echo x > made && cat made; ls';

describeForEachPerson('a run starts', (person) => {
  const makePlace = usePlaces(person);

  it.each(['/tmp', '/var/tmp'])('from a directory below %s', async (parent) => {
    const place = makePlace(parent);
    place.write('work/there', '');
    place.write('beside', 'secret');
    const { stdout, code } = await runScript(
      place,
      `${WORK}; cat ../beside; ls /tmp > /dev/null; exit 0`,
      { flags: CODING },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${place.work}\nx\nmade\nthere\n` });
    expect(place.has('work/made')).toBe(true);
  });

  it('from the home directory', async () => {
    const place = makePlace();
    place.write('home/.ssh/id', 'secret');
    const { stdout } = await runScript(
      place,
      'pwd; cat .ssh/id; echo x > made && cat made; exit 0',
      { flags: CODING, cwd: place.home },
    );
    expect(stdout).toBe(`${place.home}\nx\n`);
  });

  it('from / and sees of it what the policy says', async () => {
    const outcome = await runScript(makePlace(), 'pwd; ls > /dev/null && echo listed', {
      cwd: '/',
    });
    expect(outcome).toMatchObject({ code: 0, stdout: '/\nlisted\n' });
  });

  it('from a directory reached by a link, and works in the real one', async () => {
    const place = makePlace();
    fs.symlinkSync(place.work, place.at('link'));
    const viaShell = await runBare({
      place,
      command: [
        '/bin/sh',
        '-c',
        `cd ../link && "${ASSAY}" sandbox -q --preset coding-agent -- sh -c 'echo x > made; pwd -P; cat "$OLDPWD/made" made' `,
      ],
    });
    expect(viaShell.stdout).toContain(`${place.work}\n`);
    expect(place.has('work/made')).toBe(true);
    const viaFlag = await runScript(place, 'pwd; cat made', {
      flags: ['--workdir', place.at('link')],
      cwd: '/',
    });
    expect(viaFlag.stdout).toBe(`${place.work}\nx\n`);
  });

  it('with --workdir, relative to where the caller is', async () => {
    const place = makePlace();
    place.makeDir('work/sub');
    const { stdout } = await runScript(place, WORK, { flags: [...CODING, '--workdir', 'sub'] });
    expect(stdout).toBe(`${place.at('work/sub')}\nx\nmade\n`);
  });

  it('from a directory with an odd name', async () => {
    const place = makePlace();
    for (const name of [
      'with space',
      'new\nline',
      'grüße',
      "quo'te",
      '*[x]?',
      '-dash',
      'back\\slash',
      '${HOME}',
      '~',
    ]) {
      place.makeDir(`work/${name}`);
      const { stdout, stderr, code } = await runScript(
        place,
        'pwd; echo x > made; cat made; echo x > ../up; exit 0',
        {
          flags: CODING,
          cwd: place.at(`work/${name}`),
        },
      );
      expect({ name, code, stdout }).toEqual({
        name,
        code: 0,
        stdout: `${place.at(`work/${name}`)}\nx\n`,
      });
      expect(stderr).toContain('up');
      expect(place.has('work/up')).toBe(false);
    }
  });

  it('without HOME', async () => {
    const outcome = await runScript(makePlace(), 'echo "${HOME-unset}"', {
      env: { HOME: undefined },
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'unset\n' });
  });

  it('with a HOME that does not exist, is a file, or is /', async () => {
    const place = makePlace();
    for (const HOME of [place.at('missing'), place.write('file', ''), '/', 'relative', '']) {
      const { code, stdout } = await runScript(place, 'echo ran', { env: { HOME } });
      expect({ HOME, code, stdout }).toEqual({ HOME, code: 0, stdout: 'ran\n' });
    }
  });

  it('for a user whom the user database does not know, as themselves', async () => {
    const { stdout } = await runScript(
      makePlace(),
      'id -u; id -g; touch /tmp/f; stat -c %u:%g /tmp/f',
    );
    expect(stdout).toBe(`${person.uid}\n${person.gid}\n${person.uid}:${person.gid}\n`);
  });

  it('with an empty environment', async () => {
    const outcome = await runBare({
      place: makePlace(),
      command: ['/usr/bin/env', '-i', ASSAY, 'sandbox', '-q', '--', '/bin/echo', 'ran'],
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  it('with all of / readable, and tmp is private and denied places are covered all the same', async () => {
    const place = makePlace();
    place.write('home/.ssh/id', 'secret\n');
    const script = `cat ~/.ssh/id; ls -A /tmp | grep -v '^assay-'; echo x > /tmp/x && echo wrote`;
    const { outcome, summary } = await runForSummary({
      place,
      flags: ['--allow-read', '/'],
      command: ['/bin/sh', '-c', script],
    });
    expect(outcome.stdout).toBe('wrote\n');
    expect(summary.layers.find(({ layer }) => layer === 'mount')).toMatchObject({
      status: 'enforced',
    });
  });

  it('and leaves nothing in the workspace', async () => {
    const place = makePlace();
    place.write('work/file', 'file');
    await runScript(place, 'cat file', { flags: CODING });
    await runScript(place, 'cat file', {
      flags: [...CODING, '--deny', './absent', '--deny', './file'],
    });
    expect(fs.readdirSync(place.work)).toEqual(['file']);
    expect(fs.readdirSync(place.home)).toEqual([]);
  });

  it('many times at once', async () => {
    const place = makePlace();
    const runs = Array.from({ length: 8 }, (_, n) =>
      runAssay({ place, flags: ['-q'], command: ['echo', String(n)] }),
    );
    expect((await Promise.all(runs)).map(({ code, stdout }) => `${code} ${stdout}`)).toEqual(
      runs.map((_, n) => `0 ${n}\n`),
    );
  });
});
