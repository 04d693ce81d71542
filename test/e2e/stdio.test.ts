import { closeSync, openSync } from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixture, PYTHON, runAssay, runBare, runScript, ASSAY } from './run-assay.ts';

const MEGABYTES = 8;

describeForEachPerson('standard streams', (person) => {
  const makePlace = usePlaces(person);

  it('keep output and errors apart and say nothing of their own with --quiet', async () => {
    const outcome = await runScript(makePlace(), 'echo out; echo err >&2');
    expect(outcome).toMatchObject({ code: 0, stdout: 'out\n', stderr: 'err\n' });
  });

  it('pass large input through unchanged', async () => {
    const input = Buffer.alloc(MEGABYTES << 20, 'some bytes \0\xff, ');
    const { code, stdout } = await runScript(makePlace(), 'cat | md5sum', { input });
    const bare = await runBare({ place: makePlace(), command: ['md5sum'], input });
    expect({ code, stdout }).toEqual({ code: 0, stdout: bare.stdout });
  });

  it('pass large output through unchanged', async () => {
    const script = `head -c ${MEGABYTES << 20} /dev/zero | tr '\\0' x`;
    const { code, stdout } = await runScript(makePlace(), script);
    expect({ code, size: stdout.length }).toEqual({ code: 0, size: MEGABYTES << 20 });
  });

  it('work when standard input is closed or empty', async () => {
    expect(await runScript(makePlace(), 'cat; echo end', { input: '' })).toMatchObject({
      code: 0,
      stdout: 'end\n',
    });
    const closed = await runBare({
      place: makePlace(),
      command: ['/bin/sh', '-c', `exec "${ASSAY}" sandbox --quiet -- sh -c 'echo ran' <&-`],
    });
    expect(closed).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  it('work when standard output and error are closed', async () => {
    const place = makePlace();
    for (const redirect of ['>&-', '2>&-', '<&- >&- 2>&-']) {
      const script = `"${ASSAY}" sandbox --preset coding-agent -- sh -c 'echo ran > ran' ${redirect}`;
      expect(await runBare({ place, command: ['/bin/sh', '-c', script] })).toMatchObject({
        code: 0,
      });
      expect(place.read('work/ran')).toBe('ran\n');
      place.write('work/ran', '');
    }
  });

  it('end the program when nobody reads its output any more', async () => {
    const script = `"${ASSAY}" sandbox --quiet -- yes | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const outcome = await runBare({ place: makePlace(), command: ['/bin/bash', '-c', script] });
    expect(outcome.stdout).toMatch(/^y\n(141|1)\n$/);
  });

  it('are all that is inherited', async () => {
    const place = makePlace();
    const secret = place.write('secret', 'secret');
    const files = Array.from({ length: 8 }, () => openSync(secret, 'r'));
    try {
      const { stdout, code } = await runAssay({
        place,
        flags: ['--quiet'],
        command: [PYTHON, '-c', fixture('list-descriptors.py')],
        extra: files,
      });
      expect({ code, stdout }).toEqual({ code: 0, stdout: '0\n1\n2\n' });
    } finally {
      files.forEach(closeSync);
    }
  });

  it('can be opened again by name: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd', async () => {
    const place = makePlace();
    const script = [
      'echo "from cat: $(cat /dev/stdin)"',
      'echo out > /dev/stdout',
      'echo err > /dev/stderr',
      'echo fd > /dev/fd/1',
      'echo proc > /proc/self/fd/1',
      'cat <(echo substituted)',
      'echo end',
    ].join('\n');
    for (const preset of ['mcp-server-minimal', 'coding-agent']) {
      // Pipes of a shell: those of node are sockets, which nobody can open by name.
      const outcome = await runBare({
        place,
        command: [
          '/bin/bash',
          '-c',
          'set -o pipefail; { printf typed | "$0" sandbox --quiet --preset "$1" -- /bin/bash -c "$2" | cat; } 2> >(cat >&2)',
          ASSAY,
          preset,
          script,
        ],
      });
      expect(outcome).toMatchObject({
        code: 0,
        stdout: 'from cat: typed\nout\nfd\nproc\nsubstituted\nend\n',
        stderr: 'err\n',
      });
    }
  });

  it('can be files outside the allowed paths, which the caller opened', async () => {
    const place = makePlace();
    place.write('outside/in', 'input from outside\n');
    const script = `"${ASSAY}" sandbox --quiet -- sh -c 'cat; cat /dev/stdin; echo err >&2; echo more > /dev/stdout' < ../outside/in > ../outside/out 2> ../outside/err`;
    expect(await runBare({ place, command: ['/bin/sh', '-c', script] })).toMatchObject({ code: 0 });
    expect(place.read('outside/out')).toContain('input from outside\n');
    expect(place.read('outside/out')).toContain('more\n');
    expect(place.read('outside/err')).toBe('err\n');
  });
});
