import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { ASSAY, type Outcome, runAssay, runBare } from './run-assay.ts';

interface Found {
  readonly equal: boolean;
  readonly summary: { readonly kinds: Readonly<Record<string, number>> };
  readonly differences: readonly {
    readonly group: string;
    readonly change: string;
    readonly subject: string;
    readonly kinds: readonly string[];
  }[];
}

describeForEachPerson('two runs', (person) => {
  const makePlace = usePlaces(person);

  const run = async (place: Place, name: string, script: string): Promise<void> => {
    const out = place.makeDir('out');
    const shared = place.makeDir('shared');
    const outcome = await runAssay({
      place,
      flags: [
        '--preset=coding-agent',
        `--allow-write=${shared}`,
        `--deny=${place.work}/secret`,
        '--quiet',
        `--bundle=${out}/${name}.tar.gz`,
      ],
      command: ['/bin/sh', script],
    });
    expect(outcome.code).toBe(0);
  };
  const diff = (place: Place, ...args: readonly string[]): Promise<Outcome> =>
    runBare({ place, command: [ASSAY, 'evidence', 'diff', ...args], cwd: place.at('out') });

  it('that did the same do not differ, and one that did more does in just that', async () => {
    const place = makePlace();
    place.write('work/secret', 's');
    place.write('work/run.sh', 'ls > list\ncat list\nrm list\n');
    await run(place, 'first', 'run.sh');
    await run(place, 'second', 'run.sh');
    const same = await diff(place, 'first.tar.gz', 'second.tar.gz', '--fail-on', 'any');
    expect(same.stdout).toContain('No differences.');
    expect(same.code).toBe(0);

    place.write(
      'work/run.sh',
      `ls > list\ncat list\nrm list\ncat secret\nid > ${place.at('shared')}/id\n`,
    );
    await run(place, 'third', 'run.sh');
    const list = 'new-program,new-write-outside,new-denial,new-host,coverage-loss';
    const flags = ['--format', 'json', '--fail-on', list];
    const other = await diff(place, 'first.tar.gz', 'third.tar.gz', ...flags);
    expect(other.code).toBe(1);
    const { summary, differences } = JSON.parse(other.stdout) as Found;
    expect(summary.kinds).toMatchObject({
      'new-program': 1,
      'new-write-outside': 1,
      'new-denial': 1,
    });
    expect(summary.kinds).not.toHaveProperty('new-host');
    expect(summary.kinds).not.toHaveProperty('coverage-loss');
    const subjectOf = (kind: string): string | undefined =>
      differences.find(({ kinds }) => kinds.includes(kind))?.subject;
    expect(subjectOf('new-program')).toMatch(/\/id$/);
    expect(subjectOf('new-write-outside')).toMatch(/shared\/id$/);
    expect(subjectOf('new-denial')).toBe('${CWD}/secret');
    const back = await diff(place, 'third.tar.gz', 'first.tar.gz', '--fail-on', list);
    expect(back.code).toBe(0);
  });
});
