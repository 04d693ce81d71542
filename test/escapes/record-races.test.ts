import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import {
  eventsOf,
  FLOOD_FACTOR,
  furnish,
  linesOf,
  listGaps,
  runOutside,
  runRecorded,
} from './recorded.ts';

const VARIANTS = [
  'absolute',
  'relative',
  'shared',
  'link',
  'exchange',
  'descriptor',
  'descriptor-below',
  'directory',
  'directory-below',
];
/** By reading and by creating. */
const RACES = VARIANTS.length * 2;
/** Root and the ordinary user together make 20,000. */
const OPENS = 10_000 * FLOOD_FACTOR;

describeForEachPerson('the record of a race', (person) => {
  const openPlace = usePlaces(person);

  it(`has what was opened, and nothing else, of ${OPENS} opens that are meddled with`, async () => {
    const place = openPlace();
    furnish(place);
    const option = Math.ceil(OPENS / RACES);
    runOutside({ place, id: 'record-races-prepare', option });
    const recorded = await runRecorded({ place, id: 'record-races', option });
    expect(recorded.outcome).toMatchObject({ code: 0, stderr: '' });
    expect(listGaps(recorded)).toEqual([]);

    const got = linesOf(recorded.outcome.stdout, 'got');
    const told = eventsOf(recorded, 'read', 'create', 'write');
    expect(got.length).toBeGreaterThan(OPENS / 3);
    for (const variant of VARIANTS)
      for (const mode of ['read', 'create']) {
        const dir = `${place.work}/race/${variant}-${mode}/`;
        const mine = told.filter(({ path = '' }) => path.startsWith(dir) && /\d{6}$/.test(path));
        // Directories that change places give a file another path: its name tells which it is.
        const nameOf = (path: string): string => (variant === 'exchange' ? basename(path) : path);
        const isDone = mine.filter(({ outcome }) => outcome === 'ok');
        const seen = isDone.map(({ path = '' }) => nameOf(path));
        const really = got.filter((path) => path.startsWith(dir)).map(nameOf);
        expect(new Set(seen), `${variant} ${mode}`).toEqual(new Set(really));
        if (mode === 'create' && variant !== 'exchange') {
          const there = ['.', 'a', 'b', 'a/s'].flatMap((side) => listNumbered(join(dir, side)));
          expect(new Set(seen), `${variant} and the directories`).toEqual(new Set(there));
          expect(isDone.filter(({ op }) => op !== 'create')).toEqual([]);
        }
        const isFalse = ({ path = '', outcome }: (typeof mine)[number]): boolean =>
          outcome === 'ENOENT' && variant !== 'exchange' && mode === 'read' && existsSync(path);
        expect(mine.filter(isFalse), `${variant}: what is there was not missing`).toEqual([]);
      }
  });

  it('has the text that a symbolic link really got', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-link-text', option: 2000 });
    const links = eventsOf(recorded, 'symlink');
    expect(links).toHaveLength(2000);
    const isFalse = links.filter(({ path = '', target }) => readlinkSync(path) !== target);
    expect(isFalse).toEqual([]);
  });

  it('names both ends of a rename and of a hard link as they were asked for', async () => {
    const place = openPlace();
    furnish(place);
    const script = 'ln allowed.txt second; mv second third';
    const recorded = await runRecorded({ place, command: ['/bin/sh', '-c', script] });
    const { work } = place;
    expect(eventsOf(recorded, 'link', 'rename')).toMatchObject([
      { op: 'link', path: `${work}/allowed.txt`, requested: 'allowed.txt' },
      { op: 'rename', path: `${work}/second`, requested: 'second', target: `${work}/third` },
    ]);
  });
});

function listNumbered(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => /^\d{6}$/.test(name))
    .map((name) => join(dir, name));
}
