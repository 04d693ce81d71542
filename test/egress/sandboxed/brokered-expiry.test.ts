import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import type { Layer } from '../../../src/plan/plan.ts';
import { EchoDriver } from './echo.ts';

let driver: EchoDriver;
const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
beforeAll(async () => {
  driver = await EchoDriver.make();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  driver.close();
});

const EXPIRES_MS = 1500;
/** Long after that, as a busy machine is slow. */
const CERTAIN_SECONDS = 4;
const LAYERS: readonly (readonly Layer[])[] = [['net'], ['user', 'mount', 'pid', 'ipc', 'net']];

describeForEachPerson('a direct connection whose rule ends', (person) => {
  const makePlace = usePlaces(person);

  async function outlive(way: string, without: readonly Layer[], expiresInMs: number) {
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const script = fixture('outlive-rule.py');
    const argv = [PYTHON, '-c', script, String(port), way, String(CERTAIN_SECONDS)];
    const net = [`127.0.0.1:${port}`];
    const { stdout, problems } = await driver.run(makePlace(), { net, argv, without, expiresInMs });
    expect(problems).toEqual([]);
    return stdout.split('\n').filter(Boolean);
  }

  it.each(['plain', 'silent', 'inherited', 'unshared', 'in_transit'])(
    'is cut, however the program keeps it: %s',
    async (way) => {
      expect(await outlive(way, LAYERS[0] ?? [], EXPIRES_MS)).toEqual(['cut', 'EACCES']);
    },
  );

  it('is cut without any namespace', async () => {
    expect(await outlive('plain', LAYERS[1] ?? [], EXPIRES_MS)).toEqual(['cut', 'EACCES']);
  });

  it('goes on while its rule does', async () => {
    expect(await outlive('plain', LAYERS[0] ?? [], 600_000)).toEqual(['talked', 'connected again']);
  });
});
