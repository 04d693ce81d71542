import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { furnish, linesOf, listGaps, type Recorded, runRecorded } from './recorded.ts';

/** The addresses with which something was done, and how that ended. */
function listAddresses({ evidence }: Recorded, op: string): Record<string, string> {
  const found = Object.entries(evidence.entries.network).flatMap(([address, ops]) =>
    op in ops ? [[address, Object.keys(ops[op] ?? {}).join()]] : [],
  );
  return Object.fromEntries(found) as Record<string, string>;
}

describeForEachPerson('the record of addresses', (person) => {
  const openPlace = usePlaces(person);
  const record = async (id: string): Promise<Recorded> => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id });
    expect(listGaps(recorded)).toEqual([]);
    return recorded;
  };

  it('has each that a datagram reached, however oddly it was named', async () => {
    const recorded = await record('record-sends');
    const reached = linesOf(recorded.outcome.stdout, 'reached');
    expect(reached).toHaveLength(4);
    expect(listAddresses(recorded, 'connect')).toEqual(
      Object.fromEntries(reached.map((address) => [address, 'ok'])),
    );
  });

  it('has each that was taken, also by listening alone, by its whole name', async () => {
    expect(listAddresses(await record('record-binds'), 'bind')).toEqual({
      'tcp:0.0.0.0:0': 'ok',
      'tcp:0.0.0.0:7300': 'ok',
      'unix:@one@two': 'ok',
    });
  });

  it('has no connection that was put off and never made', async () => {
    expect(listAddresses(await record('record-connect-later'), 'connect')).toEqual({
      'tcp:127.0.0.1:9': 'ECONNREFUSED',
    });
  });
});
