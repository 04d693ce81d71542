import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { findChildren, makeMark, waitUntilGone } from './processes.ts';
import { fixture, PYTHON, runAssay } from './run-assay.ts';

/** Without a pid namespace the tree is ended by search; with one, by the kernel. */
const LAYERS = [
  ['every layer', []],
  ['no pid namespace', ['--layers=-pid']],
  ['no user namespace', ['--layers=-user']],
  ['no pid namespace and no broker', ['--layers=-pid,-broker']],
] as const;

describeForEachPerson('the tree', (person) => {
  const makePlace = usePlaces(person);
  const daemons = [PYTHON, '-c', fixture('leave-daemons.py')];

  it.each(LAYERS)('leaves nothing behind at a normal end, with %s', async (_, flags) => {
    const mark = makeMark();
    const outcome = await runAssay({ place: makePlace(), flags, command: [...daemons, mark] });
    expect(outcome).toMatchObject({ code: 0, stdout: 'ready\n' });
    expect(await waitUntilGone(mark)).toEqual([]);
  });

  it.each(LAYERS)('dies with assay, with %s', async (_, flags) => {
    const mark = makeMark();
    const outcome = await runAssay({
      place: makePlace(),
      flags,
      command: [...daemons, mark, 'stay'],
      onOutput: (text, child) => {
        if (text.includes('ready')) child.kill('SIGKILL');
      },
    });
    expect(outcome.signal).toBe('SIGKILL');
    expect(await waitUntilGone(mark)).toEqual([]);
  });

  it.each(LAYERS.slice(0, 2))(
    'dies with the helper, with %s, and assay says so',
    async (_, flags) => {
      const mark = makeMark();
      const killed = { is: false };
      const outcome = await runAssay({
        place: makePlace(),
        flags,
        command: [...daemons, mark, 'stay'],
        onOutput: (text, child) => {
          if (killed.is || !text.includes('ready')) return;
          killed.is = true;
          for (const helper of findChildren(child.pid ?? 0)) process.kill(helper, 'SIGKILL');
        },
      });
      expect(outcome).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('E_LAUNCH_FAILED'),
      });
      expect(await waitUntilGone(mark)).toEqual([]);
    },
  );

  it.each(LAYERS)('ends at the timeout although it ignores SIGTERM, with %s', async (_, flags) => {
    const mark = makeMark();
    const started = Date.now();
    const outcome = await runAssay({
      place: makePlace(),
      flags: ['--timeout', '1s', ...flags],
      command: [
        '/bin/sh',
        '-c',
        `trap "" TERM HUP INT; setsid sleep 300 & while :; do sleep 1; done`,
        mark,
      ],
    });
    expect(outcome).toMatchObject({ code: 124, stderr: expect.stringContaining('TIMEOUT') });
    expect(Date.now() - started).toBeLessThan(20_000);
    expect(await waitUntilGone(mark)).toEqual([]);
  });

  it('gets SIGTERM first at the timeout, and time to clean up', async () => {
    const place = makePlace();
    const outcome = await runAssay({
      place,
      flags: ['--timeout', '1s'],
      command: ['/bin/sh', '-c', `trap 'echo cleaned; exit 5' TERM; while :; do sleep 0.1; done`],
    });
    expect(outcome).toMatchObject({ code: 124, stdout: 'cleaned\n' });
  });
});
