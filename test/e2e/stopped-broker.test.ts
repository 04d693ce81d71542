import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { findChildren } from './processes.ts';
import { fixture, PYTHON, runAssay } from './run-assay.ts';

const SECONDS = 4;

/** The helper, and who keeps the program in a boundary of its own. */
function findKeeper(assay: number): number | undefined {
  const [helper] = findChildren(assay);
  return helper === undefined ? undefined : findChildren(helper)[0];
}

async function stopAgainAndAgain(pid: number): Promise<void> {
  const end = Date.now() + SECONDS * 1000;
  try {
    while (Date.now() < end) {
      process.kill(pid, 'SIGSTOP');
      await sleep(1);
      process.kill(pid, 'SIGCONT');
      await sleep(2);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

describeForEachPerson('a broker that is stopped and goes on', (person) => {
  const makePlace = usePlaces(person);

  it('gives no program a descriptor that is none', async () => {
    let stopping: Promise<void> | undefined;
    const { code, stdout } = await runAssay({
      place: makePlace(),
      flags: ['--quiet', '--preset', 'coding-agent', '--observe', 'all'],
      command: [PYTHON, '-c', fixture('open-for-a-while.py'), String(SECONDS)],
      onOutput: (_, child) => {
        const keeper = child.pid === undefined ? undefined : findKeeper(child.pid);
        if (keeper !== undefined) stopping ??= stopAgainAndAgain(keeper);
      },
    });
    expect(stopping).toBeDefined();
    await stopping;
    // Ended rather than left to go on with what it was not given.
    expect([code, stdout]).toBeOneOf([
      [137, 'ready\n'],
      [0, 'ready\ngiven 0\n'],
    ]);
  });
});
