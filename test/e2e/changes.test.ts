import { expect, it } from 'vitest';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { runAssay } from './run-assay.ts';

interface Case {
  readonly does: string;
  /** Files that are there before. */
  readonly before?: readonly string[];
  readonly script: string;
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly removed?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    does: 'puts a file into place twice and removes it',
    script: 'echo 1 > l; mv l m; echo 2 > l; mv l m; rm m',
  },
  {
    does: 'puts a file into place twice, removes it and makes it anew',
    script: 'echo 1 > l; mv l m; echo 2 > l; mv l m; rm m; echo 3 > m',
    created: ['m'],
  },
];

describeForEachPerson('the changes of a run', (person) => {
  const makePlace = usePlaces(person);

  it.for(CASES)('are right when it $does', async (one) => {
    const place = makePlace();
    const { before = [], created = [], modified = [], removed = [] } = one;
    for (const name of before) place.write(`work/${name}`, name);
    const profile = `${place.makeDir('out')}/p.json`;
    const outcome = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--profile', profile, '--profile-format', 'json'],
      command: ['/bin/sh', '-ec', one.script],
    });
    expect(outcome.code, outcome.stderr).toBe(0);
    const { changes } = JSON.parse(place.read('out/p.evidence.json')) as Evidence;
    const inside = (names: readonly string[]): string[] => names.map((name) => `\${CWD}/${name}`);
    expect(changes).toMatchObject({
      created: inside(created),
      modified: inside(modified),
      removed: inside(removed),
    });
  });
});
