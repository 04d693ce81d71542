import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { encodeName } from '../../src/core/name-bytes.ts';
import {
  eventsOf,
  FLOOD_FACTOR,
  furnish,
  linesOf,
  listGaps,
  programLines,
  runRecorded,
} from './recorded.ts';

const OPENS = 10_000 * FLOOD_FACTOR;
const FILES = 2000 * FLOOD_FACTOR;
const PROGRAMS = 1000 * FLOOD_FACTOR;

describeForEachPerson('a flood', (person) => {
  const openPlace = usePlaces(person);

  it(`of ${OPENS} opens of one file is one line and a count`, async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-open-again', option: OPENS });
    expect(recorded.outcome.code).toBe(0);
    const reads = eventsOf(recorded, 'read').filter(({ path }) => path?.endsWith('/allowed.txt'));
    expect(reads).toHaveLength(1);
    expect(Object.values(recorded.evidence.run.hits)).toContain(OPENS);
    expect(listGaps(recorded)).toEqual([]);
  });

  it(`of ${FILES} files loses none, or says how many are not told`, async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-many-files', option: FILES });
    expect(recorded.outcome.code).toBe(0);
    const made = eventsOf(recorded, 'create').filter(({ path }) => path?.includes('/many/'));
    const isTold = made.length === FILES;
    expect(listGaps(recorded).some((gap) => gap.startsWith('changes: '))).toBe(!isTold);
    if (FLOOD_FACTOR === 1) expect(isTold).toBe(true);
  });

  it(`of ${PROGRAMS} short-lived programs is counted`, async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-many-programs', option: PROGRAMS });
    expect(recorded.outcome.code).toBe(0);
    expect(recorded.evidence.run.starts).toEqual({ '${CWD}/attack': 1, '${CWD}/still': PROGRAMS });
    expect(programLines(recorded)).toHaveLength(2);
  });

  it('of programs is told truly where assay may have few files open', async () => {
    const place = openPlace();
    furnish(place);
    const prefix = ['/bin/sh', '-c', 'ulimit -n 1024 && exec "$@"', 'sh'];
    const oneByOne = { place, prefix, id: 'record-many-programs', option: 1500 };
    const { evidence } = await runRecorded(oneByOne);
    expect(evidence.run.starts).toEqual({ '${CWD}/attack': 1, '${CWD}/still': 1500 });
    // What cannot be followed is not started.
    const atOnce = { place, prefix, id: 'record-still-crowd', option: 600 };
    const recorded = await runRecorded(atOnce);
    const outcomes = eventsOf(recorded, 'exec').map(({ outcome }) => outcome);
    expect(['EAGAIN', 'ok']).toEqual(expect.arrayContaining(outcomes));
    expect(programLines(recorded)).toHaveLength(2);
    const made = eventsOf(recorded, 'mkdir');
    expect(recorded.evidence.run.starts['${CWD}/still']).toBe(made.length);
    for (const { program } of made) expect(program?.image).toBe(`${place.work}/still`);
  });

  it('of command lines says that there are more than it has', async () => {
    const place = openPlace();
    furnish(place);
    const many = (last: number) =>
      `i=1; while [ $i -le ${last} ]; do /usr/bin/env "--$i" 2>/dev/null; i=$((i+1)); done; true`;
    for (const [last, listed] of [
      [16, 16],
      [40, 17],
    ] as const) {
      const recorded = await runRecorded({ place, command: ['/bin/sh', '-c', many(last)] });
      const commands = recorded.evidence.run.commands['/usr/bin/env'] ?? [];
      expect(commands).toHaveLength(listed);
      expect(commands.some((words) => words[0] === '[truncated]')).toBe(listed > 16);
    }
  });

  it('of strange names has each of them, byte for byte', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-strange-names' });
    expect(recorded.outcome).toMatchObject({ code: 0, stderr: '' });
    const there = readdirSync(place.at('work/strange'), { encoding: 'buffer' });
    const prefix = `${place.work}/strange/`;
    const told = eventsOf(recorded, 'create')
      .map(({ path = '' }) => path)
      .filter((path) => path.startsWith(prefix))
      .map((path) => encodeName(path.slice(prefix.length)));
    const toHex = (names: readonly Buffer[]): string[] => names.map((name) => name.toString('hex'));
    expect(toHex(told).sort()).toEqual(toHex(there).sort());
    expect(listGaps(recorded)).toEqual([]);
    expect(programLines(recorded)).toHaveLength(1);
  });

  it('of long names in one path is told to its end', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-long-path' });
    const leaf = eventsOf(recorded, 'create').find(({ path }) => path?.endsWith('/leaf'));
    const there = execFileSync('/usr/bin/find', [`${place.work}/long`, '-name', 'leaf', '-print0']);
    expect(leaf?.path).toBe(there.toString('latin1').replace('\0', ''));
    expect(leaf?.path?.length).toBeGreaterThan(3800);
  });

  it('of forged lines is heard nowhere', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-forged' });
    expect(recorded.outcome.stdout).toContain('/forged');
    expect(JSON.stringify(recorded.lines)).not.toContain('/forged"');
    expect(JSON.stringify(recorded.evidence.entries)).not.toContain('/forged');
    expect(listGaps(recorded)).toEqual([]);
  });

  it('that fills the private tmp hides nothing of what comes after', async () => {
    const place = openPlace();
    furnish(place);
    const flags = ['--limit-disk', '4mb'];
    const recorded = await runRecorded({ place, id: 'record-full-disk', option: 500, flags });
    expect(linesOf(recorded.outcome.stdout, 'full')).toHaveLength(1);
    expect(eventsOf(recorded, 'mkdir')).toHaveLength(500);
    expect(listGaps(recorded)).toEqual([]);
  });

  it.runIf(person.uid === 0)(
    'that fills the disk on which assay writes is counted where it cannot be told',
    async () => {
      const place = openPlace();
      furnish(place);
      const script = 'mount -t tmpfs -o size=3m,mode=1777 small /tmp && exec "$@"';
      const prefix = ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', script, 'sh'];
      const option = 6000; // more than there is room for
      const recorded = await runRecorded({ place, id: 'record-full-disk', option, prefix });
      expect(linesOf(recorded.outcome.stdout, 'full')).toHaveLength(1);
      expect(recorded.outcome.code).toBe(0);
      const missing = option - eventsOf(recorded, 'mkdir').length;
      expect(missing).toBeGreaterThan(0);
      // Lines with counts may be among what is lost, too.
      const [, lost] = /changes: (\d+) events could not be written down/.exec(
        listGaps(recorded).join('\n'),
      ) ?? ['', '0'];
      expect(Number(lost)).toBeGreaterThanOrEqual(missing);
    },
  );

  it('through a tree that is too deep to have names is neither judged nor told, so it fails', async () => {
    const place = openPlace();
    furnish(place);
    place.write('work/sub/readme.txt', 'readme');
    place.write('work/sub/key.pem', 'the secret');
    const policy = {
      api_version: 'assay/v1',
      extends: ['coding-agent'],
      fs: { deny: [`${place.work}/**/*.pem`] },
    };
    const flags = ['--policy', place.write('out/policy.json', JSON.stringify(policy))];
    const recorded = await runRecorded({ place, id: 'record-deep-read', flags });
    expect(recorded.outcome.stdout).toBe('started token\n');
    const change = await runRecorded({ place: furnished(openPlace()), id: 'record-deep-change' });
    expect(change.outcome.stdout).toBe('started token\n');
  });
});

function furnished<T extends Parameters<typeof furnish>[0]>(place: T): T {
  furnish(place);
  return place;
}
