import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import { EchoDriver } from './echo.ts';

let driver: EchoDriver;
beforeAll(async () => {
  driver = await EchoDriver.make();
});
afterAll(() => driver.close());

const knock = (...targets: string[]): string[] => [PYTHON, '-c', fixture('knock.py'), ...targets];

describeForEachPerson('the doors of a run', (person) => {
  const makePlace = usePlaces(person);

  it('are reached by plain connections, which say where they were for', async () => {
    const targets = ['tcp:198.18.0.5:443', 'tcp:198.19.255.254:22', 'tcp:127.0.0.1:3128'];
    const { stdout, status, problems } = await driver.run(makePlace(), {
      net: ['example.org'],
      argv: knock(...targets, 'tcp:127.0.0.53:53', 'udp:127.0.0.53:53'),
    });
    expect(stdout.split('\n')).toEqual([
      'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      'tcp:198.19.255.254:22 transparent 198.19.255.254 22 | word',
      'tcp:127.0.0.1:3128 proxy 127.0.0.1 3128 | word',
      'tcp:127.0.0.53:53 dnsTcp 127.0.0.53 53 | word',
      'udp:127.0.0.53:53 dns word',
      '',
    ]);
    expect([status, problems]).toEqual(['enforced', []]);
  });
});
