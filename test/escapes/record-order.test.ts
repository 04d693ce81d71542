import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { eventsOf, FLOOD_FACTOR, furnish, listGaps, runRecorded } from './recorded.ts';

const ROUNDS = 150 * FLOOD_FACTOR;
const MOVES = 1000 * FLOOD_FACTOR;

/** By two programs in turn, as they can only happen. */
const ORDER = [
  ['create made', 'unlink made'],
  ['mkdir dir', 'create dir/file', 'unlink dir/file', 'rmdir dir'],
  ['create from', 'rename from', 'unlink to'],
  ['mkdir old', 'rename old', 'create new/file'],
];

describeForEachPerson('the record of two programs at the same names', (person) => {
  const openPlace = usePlaces(person);

  it(`has what they did in the order in which they did it, ${ROUNDS} times`, async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-order', option: ROUNDS });
    expect(recorded.outcome).toMatchObject({ code: 0, stderr: '' });
    expect(listGaps(recorded)).toEqual([]);

    const ops = ['create', 'write', 'unlink', 'mkdir', 'rmdir', 'rename'];
    const told = eventsOf(recorded, ...ops).filter(({ outcome }) => outcome === 'ok');
    const rounds = new Map<string, string[]>();
    for (const { op, path = '' } of told) {
      const number = /-(\d{6})/.exec(path)?.[1];
      if (number === undefined) continue;
      const line = `${op} ${path.slice(place.work.length + 1).replace(`-${number}`, '')}`;
      rounds.set(number, [...(rounds.get(number) ?? []), line]);
    }
    expect(rounds.size).toBe(ROUNDS);
    for (const [number, lines] of rounds) {
      const inOrder = ORDER.map((wanted) => lines.filter((line) => wanted.includes(line)));
      expect(inOrder, number).toEqual(ORDER);
      expect(lines, number).toHaveLength(ORDER.flat().length);
    }
  });

  it('has what is done to a file that is moved by the name that it had then', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-order-modes', option: MOVES });
    expect(listGaps(recorded)).toEqual([]);
    const moved = new Set<string>();
    for (const { op, path = '', outcome } of eventsOf(recorded, 'chmod', 'rename')) {
      const [, name, number = ''] = /(\w+)-(\d{6})$/.exec(path) ?? [];
      if (outcome !== 'ok') continue;
      if (op === 'rename') moved.add(number);
      else expect(name, number).toBe(moved.has(number) ? 'kept' : 'own');
    }
    expect(moved.size).toBe(MOVES);
  });
});
