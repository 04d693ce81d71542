import { createLocalBackend } from '../../src/backends/local/local-backend.ts';
import { defineConformance } from './kit.ts';

await defineConformance({
  backend: createLocalBackend(),
  makeUnavailable: () =>
    createLocalBackend({
      start: async () => ({ isAvailable: false, reasons: ['no user namespace'] }),
    }),
});
