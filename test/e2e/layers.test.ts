import { dirname } from 'node:path';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { ASSAY, runAssay, runBare, runForSummary } from './run-assay.ts';

const NAMES = ['user', 'mount', 'pid', 'net', 'broker', 'landlock', 'seccomp'];
const PAIRS = NAMES.flatMap((a, at) => NAMES.slice(at + 1).map((b) => `-${a},-${b}`));
const ALL = NAMES.map((name) => `-${name}`).join();

/** Ordinary work in a workspace, and one attempt to read and one to write outside. */
const WORK = `set -e
echo one > file; mkdir -p a/b; mv file a/file; mkdir c; mv a c/a; mv c/a a; cp a/file a/b/copy; cat a/b/copy; rm -r a/b
echo tmp > "$TMPDIR/t"; cat "$TMPDIR/t"; (sleep 0; echo child); printf '#!/bin/sh\necho ran\n' > tool; sh tool; chmod +x tool || echo no-chmod
set +e; cat ../secret 2> /dev/null; (echo planted > ../planted) 2> /dev/null; exit 5`;

describeForEachPerson('without some layers', (person) => {
  const makePlace = usePlaces(person);

  it.each([...NAMES.map((name) => `-${name}`), ...PAIRS, ALL])(
    '%s: ordinary work goes on, and what does not hold is said',
    async (layers) => {
      const place = makePlace();
      place.write('secret', 'the secret\n');
      const { outcome, summary } = await runForSummary({
        place,
        flags: ['--preset', 'coding-agent', `--layers=${layers}`],
        command: ['/bin/sh', '-c', WORK],
      });
      expect(outcome.code, outcome.stderr).toBe(5);
      expect(outcome.stdout.replace(/the secret\n|no-chmod\n/g, '')).toBe('one\ntmp\nchild\nran\n');
      if (outcome.stdout.includes('no-chmod'))
        expect(JSON.stringify([summary.notes, summary.degradations])).toMatch(
          /permissions|attributes/,
        );
      for (const name of layers.split(',').map((part) => part.slice(1)))
        expect(summary.layers.find(({ layer }) => layer === name)).toMatchObject({
          status: 'absent',
          reason: 'left out by --layers',
        });
      const isThrough = outcome.stdout.includes('the secret') || place.has('planted');
      if (isThrough) expect(summary.degradations.map(({ rule }) => rule)).toContain('fs');
    },
  );

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'Landlock as of ABI %i works and states what it leaves open',
    async (abi) => {
      for (const rest of ['', ',-broker', ',-mount,-pid,-user']) {
        const place = makePlace();
        place.write('secret', 'the secret\n');
        const { outcome, summary } = await runForSummary({
          place,
          flags: ['--preset', 'coding-agent', `--layers=landlock@${abi}${rest}`],
          command: [
            '/bin/sh',
            '-c',
            abi === 1 && rest === ',-broker'
              ? WORK.replace('mv file a/file', 'cp file a/file')
              : WORK,
          ],
        });
        expect(outcome.code, outcome.stderr + rest).toBe(5);
        expect(outcome.stdout).not.toContain('the secret');
        expect(place.has('planted')).toBe(false);
        const status = summary.layers.find(({ layer }) => layer === 'landlock');
        expect(status?.status).toBe(abi < 6 ? 'partial' : 'enforced');
      }
    },
  );
});

describeForEachPerson('inside another assay', (person) => {
  const makePlace = usePlaces(person);

  it.each([
    [[], []],
    [
      ['--preset', 'coding-agent'],
      ['--preset', 'coding-agent'],
    ],
    [['--layers=-broker'], []],
    [['--layers=-seccomp'], []],
  ])(
    'outer %j, inner %j: it works with what is left, and says what is missing',
    async (outer, inner) => {
      const place = makePlace();
      place.write('secret', 'the secret\n');
      const project = JSON.stringify(dirname(dirname(ASSAY)));
      const policy = place.write(
        'outer.yaml',
        `extends: [mcp-server-minimal]\nfs: { exec: [${project}] }\n`,
      );
      const outcome = await runAssay({
        place,
        flags: ['-q', '--policy', policy, ...outer],
        command: [
          ASSAY,
          'sandbox',
          '--verbose',
          ...inner,
          '--',
          '/bin/sh',
          '-c',
          'echo inner; cat ../secret; exit 6',
        ],
      });
      expect(outcome.code, outcome.stderr).toBe(6);
      expect(outcome.stdout).toBe('inner\n');
      expect(outcome.stderr).toMatch(/broker +(?:absent|partial|enforced)/);
    },
  );

  it('inside a sandbox of bwrap', async () => {
    const place = makePlace();
    const outcome = await runBare({
      place,
      command: [
        'bwrap',
        '--unshare-all',
        '--dev-bind',
        '/',
        '/',
        '--proc',
        '/proc',
        '--',
        ASSAY,
        'sandbox',
        '-q',
        '--',
        '/bin/echo',
        'ran',
      ],
    });
    expect(outcome).toMatchObject({ code: 0, stdout: 'ran\n' });
  });
});
