import { createGvisorBackend } from '../../src/backends/gvisor/gvisor-backend.ts';
import { defineConformance } from './kit.ts';

await defineConformance({
  backend: createGvisorBackend({ way: 'direct' }),
  variant: 'direct',
  notRun: {
    'cpus: a program gets no more than its share':
      'the clock of its kernel goes on while the sandbox waits; test/engines/gvisor.test.ts shows that it waits',
    'sparse file of a terabyte': 'its kernel counts what was never written as taken',
  },
  makeUnavailable: () =>
    createGvisorBackend({
      way: 'direct',
      findRunsc: async () => ({ problem: 'runsc is not installed', hint: 'npm run engines' }),
    }),
  slowness: 3,
});
