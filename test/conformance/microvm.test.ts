import { createMicrovmBackend } from '../../src/backends/microvm/microvm-backend.ts';
import { defineConformance } from './kit.ts';

await defineConformance({
  backend: createMicrovmBackend(),
  makeUnavailable: () => createMicrovmBackend({ env: { PATH: '/nonexistent' } }),
  slowness: 4,
});
