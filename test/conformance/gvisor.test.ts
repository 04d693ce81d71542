import { createGvisorBackend } from '../../src/backends/gvisor/gvisor-backend.ts';
import { countContainers, dockerEndpoints } from '../engines/docker.ts';
import { defineConformance } from './kit.ts';

const endpoints = dockerEndpoints();

await defineConformance({
  backend: createGvisorBackend({ endpoints, way: 'engine' }),
  variant: 'engine',
  countLeftovers: async () => await countContainers(endpoints, 'gvisor'),
  notRun: {
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
