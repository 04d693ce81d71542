import { createDockerBackend } from '../../src/backends/docker/docker-backend.ts';
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
  backend: createDockerBackend({ endpoints }),
  countLeftovers: async () => await countContainers(endpoints),
  notRun: {
    ...WITHOUT_BUNDLES,
  },
  makeUnavailable: () =>
    createDockerBackend({ endpoints: { list: [{ socketPath: '/nonexistent/docker.sock' }] } }),
});
