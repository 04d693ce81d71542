import * as fs from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { ASSAY, runAssay, runBare, runScript } from './run-assay.ts';

describeForEachPerson('exit codes', (person) => {
  const makePlace = usePlaces(person);

  it.each([0, 1, 2, 3, 42, 124, 125, 126, 127, 255])('pass on the code %i', async (code) => {
    expect(await runScript(makePlace(), `exit ${code}`)).toMatchObject({ code, signal: null });
  });

  it.each([
    ['HUP', 129],
    ['INT', 130],
    ['QUIT', 131],
    ['KILL', 137],
    ['SEGV', 139],
    ['PIPE', 141],
    ['TERM', 143],
    ['USR1', 138],
  ])('are 128+n when the program ends by SIG%s', async (name, code) => {
    expect(await runScript(makePlace(), `kill -${name} $$; sleep 20`)).toMatchObject({ code });
  });

  it('are 127 for a program that does not exist, and the message names it', async () => {
    for (const name of ['no-such-program', './no-such-program', '/usr/bin/no-such-program']) {
      const { code, stderr } = await runAssay({
        place: makePlace(),
        flags: ['--quiet'],
        command: [name],
      });
      expect({ code, stderr }).toEqual({ code: 127, stderr: expect.stringContaining(name) });
    }
  });

  it('are 126 for what cannot be executed', async () => {
    const place = makePlace();
    place.write('work/plain', 'echo hello\n', 0o644);
    place.makeDir('work/dir');
    place.write('work/junk', 'no program\n', 0o755);
    for (const name of ['./plain', './dir', './junk'])
      expect(await runAssay({ place, command: [name] })).toMatchObject({ code: 126 });
  });

  it('are 127 for a script whose interpreter is missing, as in a shell', async () => {
    const place = makePlace();
    place.write('work/script', '#!/no/such/interpreter\n', 0o755);
    const { code } = await runAssay({ place, command: ['./script'] });
    expect(code).toBe(127);
  });

  it.each([
    ['no command', ['sandbox']],
    ['no command after --', ['sandbox', '--']],
    ['an empty command', ['sandbox', '--', '']],
    ['an unknown flag', ['sandbox', '--bogus', '--', 'true']],
    ['an unknown command', ['sandwich']],
    ['a wrong duration', ['sandbox', '--timeout', 'soon', '--', 'true']],
    ['a wrong size', ['sandbox', '--limit-memory', 'much', '--', 'true']],
    ['too little memory', ['sandbox', '--limit-memory', '4k', '--', 'true']],
    ['too many processes', ['sandbox', '--limit-pids', '100000000', '--', 'true']],
    ['an unknown layer', ['sandbox', '--layers', 'onion', '--', 'true']],
    ['an unknown preset', ['sandbox', '--preset', 'none', '--', 'true']],
    ['a working directory that is none', ['sandbox', '--workdir', '/no/such', '--', 'true']],
    ['exclusive flags', ['sandbox', '--enforce', '--dry-run', '--', 'true']],
    ['a summary that cannot be written', ['sandbox', '--json', '/no/such/file', '--', 'true']],
    ['a summary on a closed descriptor', ['sandbox', '--json', 'fd:77', '--', 'true']],
  ])('are 2 for %s', async (_, args) => {
    const outcome = await runBare({ place: makePlace(), command: [ASSAY, ...args] });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(/^assay: .+/m);
    expect(outcome.stderr).toMatch(/^E_[A-Z_]+/m);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
  });

  it('are 3 when assay itself fails: the helper is gone, or cannot be run', async () => {
    const place = makePlace();
    const copy = place.makeDir('copy');
    fs.cpSync(join(ASSAY, '../../bin'), join(copy, 'bin'), { recursive: true });
    fs.cpSync(join(ASSAY, '../../dist'), join(copy, 'dist'), { recursive: true });
    const assay = join(copy, 'bin/assay.js');
    const helper = join(copy, 'dist/assay-helper');
    const touch = ['/bin/sh', '-c', `touch "$HOME/ran"`];
    expect(await runAssay({ place, assay, command: ['true'] })).toMatchObject({ code: 0 });
    fs.chmodSync(helper, 0o644);
    const unrunnable = await runAssay({ place, assay, command: touch });
    expect(unrunnable).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('E_LAUNCH_FAILED'),
    });
    fs.rmSync(helper);
    const missing = await runAssay({ place, assay, command: touch });
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('E_HELPER_MISSING') });
    expect(place.has('home/ran')).toBe(false);
    expect(fs.readdirSync('/tmp')).not.toContain(`assay-${person.uid}-${missing.pid}`);
  });
});
