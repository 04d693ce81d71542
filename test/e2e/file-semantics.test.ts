import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixture, PYTHON, runAssay, runBare } from './run-assay.ts';

/** Each set makes the broker do more or less of the work. */
const CONFIGURATIONS: readonly (readonly [string, readonly string[]])[] = [
  ['the coding-agent preset', []],
  ['every open brokered', ['--deny', '*.never']],
  ['everything recorded', ['--observe', 'all']],
  ['no namespaces', ['--layers=-user,-mount,-pid,-net,-ipc']],
  ['no Landlock', ['--layers=-landlock']],
  ['no broker', ['--layers=-broker']],
  ['no seccomp', ['--layers=-seccomp']],
  ['Landlock as of ABI 2', ['--layers=landlock@2']],
];

describeForEachPerson('file calls', (person) => {
  const makePlace = usePlaces(person);
  const program = [PYTHON, '-c', fixture('file-semantics.py')];

  it.each(CONFIGURATIONS)('give the same results inside as outside, with %s', async (_, flags) => {
    const place = makePlace();
    const outside = await runBare({ place, command: program, cwd: place.makeDir('outside') });
    expect(outside).toMatchObject({ code: 0, stderr: '' });
    const inside = await runAssay({
      place,
      flags: ['--quiet', '--preset', 'coding-agent', ...flags],
      command: program,
    });
    expect(inside.stdout.split('\n')).toEqual(outside.stdout.split('\n'));
    expect(inside.code).toBe(0);
  });
});
