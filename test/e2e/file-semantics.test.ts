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

/** What the one who opens files for a program does after it has answered depends on what is recorded. */
const LEVELS: typeof CONFIGURATIONS = [
  ['nothing recorded', ['--observe', 'none']],
  ['changes recorded', ['--observe', 'effects']],
  ['everything recorded', ['--observe', 'all']],
  ['changes recorded and no namespaces', ['--layers=-user,-mount,-pid,-net,-ipc']],
];

const CASES = [
  ...CONFIGURATIONS.map(([name, flags]) => ['file-semantics.py', name, flags] as const),
  ...['handed-over.py', 'narrow-calls.py'].flatMap((program) =>
    LEVELS.map(([name, flags]) => [program, name, flags] as const),
  ),
];

describeForEachPerson('file calls', (person) => {
  const makePlace = usePlaces(person);

  it.each(CASES)('of %s give the same inside as outside, with %s', async (name, _, flags) => {
    const program = [PYTHON, '-c', fixture(name)];
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
