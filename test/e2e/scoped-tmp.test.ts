import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';

import { afterEach, expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { waitUntil } from './processes.ts';
import { PYTHON, runAssay, runScript } from './run-assay.ts';

const DEEP = `import os
os.chdir(os.environ['TMPDIR'])
for _ in range(40):
    os.mkdir('x' * 200); os.chdir('x' * 200)
open('bottom', 'w').close()`;

describeForEachPerson('the private tmp', (person) => {
  const makePlace = usePlaces(person);
  const isThere = (path: string): boolean =>
    fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;

  /** A directory that is left behind must not disturb the tests that follow. */
  const used: number[] = [];
  afterEach(() => {
    for (const pid of used.splice(0)) {
      const path = `/tmp/assay-${person.uid}-${pid}`;
      if (!isThere(path)) continue;
      execFileSync('/bin/chmod', ['-R', 'u+rwx', path]);
      execFileSync('/bin/rm', ['-rf', path]);
    }
  });

  it('is named for user and process, is 0700, and is where TMPDIR, TMP and TEMP point', async () => {
    const script =
      'echo "$TMPDIR $TMP $TEMP"; cd "$TMPDIR" && stat -c %a:%u . && echo x > file && echo wrote';
    for (const flags of [[], ['--layers=-mount'], ['--layers=-user']]) {
      const { stdout, pid } = await runScript(makePlace(), script, { flags });
      const tmp = `/tmp/assay-${person.uid}-${pid}`;
      expect(stdout).toBe(`${tmp} ${tmp} ${tmp}\n700:${person.uid}\nwrote\n`);
      expect(isThere(tmp)).toBe(false);
    }
  });

  it('has that name and mode on the host while the program runs', async () => {
    const seen: number[] = [];
    const { stdout } = await runScript(makePlace(), 'echo ready; sleep 0.3', {
      onOutput: (_, child) => {
        const found = fs.lstatSync(`/tmp/assay-${person.uid}-${child.pid}`);
        seen.push(found.mode & 0o7777, found.uid);
      },
    });
    expect(stdout).toBe('ready\n');
    expect(seen).toEqual([0o700, person.uid]);
  });

  it('is /tmp and /var/tmp itself: what others have there is not seen', async () => {
    const other = fs.mkdtempSync('/tmp/e2e-other-');
    try {
      const script = `ls -A /tmp | grep -v '^assay-'; ls ${other}; echo mine > /tmp/mine; cat "$TMPDIR/mine" /var/tmp/mine`;
      const { stdout, stderr } = await runScript(makePlace(), script);
      expect(stdout).toBe('mine\nmine\n');
      expect(stderr).toContain('No such file');
      expect(isThere('/tmp/mine')).toBe(false);
    } finally {
      fs.rmdirSync(other);
    }
  });

  it('holds programs that can be run', async () => {
    const script = `printf '#!/bin/sh\\necho ran\\n' > /tmp/prog; chmod +x /tmp/prog; /tmp/prog; "$TMPDIR/prog"`;
    expect(await runScript(makePlace(), script)).toMatchObject({ code: 0, stdout: 'ran\nran\n' });
  });

  it.each([
    [
      'took its own rights away',
      'mkdir -p /tmp/a/b/c; touch /tmp/a/b/c/f; chmod 0 /tmp/a/b/c/f /tmp/a/b/c /tmp/a/b /tmp/a',
    ],
    ['took its own rights to all of it away', 'mkdir /tmp/a; chmod 0 /tmp/a; chmod 0 /tmp'],
    [
      'left odd names',
      `cd /tmp; touch "new
line" "$(printf 'in\\377valid')" -- -rf ' '; mkdir "$(printf 'd\\377')"; touch "$(printf 'd\\377/f\\376')"`,
    ],
    [
      'left a directory that cannot be searched, with odd names',
      `cd /tmp; mkdir -p "$(printf 'd\\377/e')"; chmod 0 "$(printf 'd\\377')"`,
    ],
    ['left links to elsewhere', 'ln -s / /tmp/root; ln -s "$HOME" /tmp/home; mkfifo /tmp/pipe'],
    ['failed', 'touch /tmp/x; exit 9'],
    ['was killed', 'touch /tmp/x; kill -9 $$'],
  ])('is gone after a program that %s', async (_, script) => {
    const place = makePlace();
    place.write('home/precious', 'precious');
    const { pid, stderr } = await runScript(place, script);
    used.push(pid);
    expect(stderr).not.toMatch(/assay: |^\s+at /m);
    expect(isThere(`/tmp/assay-${person.uid}-${pid}`)).toBe(false);
    expect(place.read('home/precious')).toBe('precious');
  });

  it('is gone after a program that nested directories deeper than a path can name', async () => {
    const { code, pid, stderr } = await runAssay({
      place: makePlace(),
      flags: ['--quiet', '--layers=-broker'], // the broker refuses what it cannot name
      command: [PYTHON, '-c', DEEP],
    });
    used.push(pid);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(isThere(`/tmp/assay-${person.uid}-${pid}`)).toBe(false);
  });

  it('is swept by the next run when assay was killed', async () => {
    const killed = await runScript(
      makePlace(),
      'echo x > /tmp/left; chmod 0 /tmp/left; echo ready; sleep 60',
      {
        onOutput: (_, child) => void child.kill('SIGKILL'),
      },
    );
    used.push(killed.pid);
    expect(killed.signal).toBe('SIGKILL');
    const left = `/tmp/assay-${person.uid}-${killed.pid}`;
    expect(isThere(left)).toBe(true);
    // The tree ends a moment after assay; until the number is free, the directory is in use.
    expect(await waitUntil(() => !isThere(`/proc/${killed.pid}`))).toBe(true);
    await runScript(makePlace(), 'true');
    expect(isThere(left)).toBe(false);
  });

  it('of a run that still goes on is not swept', async () => {
    const place = makePlace();
    const script = `touch /tmp/kept; echo ready; sleep 2; test -e "$TMPDIR/kept" && echo still`;
    let second: Promise<unknown> | undefined;
    const { stdout } = await runScript(place, script, {
      onOutput: () => void (second ??= runScript(place, 'true')),
    });
    await second;
    expect(stdout).toBe('ready\nstill\n');
  });
});
