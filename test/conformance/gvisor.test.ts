import { createGvisorBackend } from '../../src/backends/gvisor/gvisor-backend.ts';
import { countContainers, dockerEndpoints } from '../engines/docker.ts';
import { defineConformance } from './kit.ts';

const endpoints = dockerEndpoints();

/** Until bundles are written for sandboxes of every kind. */
const WITHOUT_BUNDLES = {
  'writes a bundle that verifies, and holds the digest of the code': 'no bundle is written yet',
  'leaves a bundle also of a run that timed out': 'no bundle is written yet',
  'follows no link out of a workspace (ro)': 'the row writes into a workspace that is read-only',
};

await defineConformance({
  backend: createGvisorBackend({ endpoints, way: 'engine' }),
  countLeftovers: async () => await countContainers(endpoints),
  notRun: {
    ...WITHOUT_BUNDLES,
    'cpus: a program gets no more than its share':
      'the clock of its kernel goes on while the sandbox waits; test/engines/gvisor.test.ts shows that it waits',
    'sparse file of a terabyte': 'its kernel counts what was never written as taken',
  },
  makeUnavailable: () =>
    createGvisorBackend({
      way: 'engine',
      endpoints: { list: [{ socketPath: '/nonexistent/docker.sock' }] },
    }),
  slowness: 3,
});
