import { createDockerBackend } from '../../src/backends/docker/docker-backend.ts';
import { countContainers, dockerEndpoints } from '../engines/docker.ts';
import { defineConformance } from './kit.ts';

const endpoints = dockerEndpoints();

await defineConformance({
  backend: createDockerBackend({ endpoints }),
  countLeftovers: async () => await countContainers(endpoints, 'docker'),
  makeUnavailable: () =>
    createDockerBackend({ endpoints: { list: [{ socketPath: '/nonexistent/docker.sock' }] } }),
});
