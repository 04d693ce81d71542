import { defineConfig } from 'vitest/config';

/** Tests that start sandboxes, compile C or measure time: three files at a time, since much of it is waiting, after all others. */
const SANDBOXED = [
  'test/e2e/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/escapes/**/*.test.ts',
  'test/differential/**/*.test.ts',
  'test/workloads/**/*.test.ts',
  'test/launch/**/*.test.ts',
  'test/host/**/*.test.ts',
  'test/native/**/*.test.ts',
  'test/plan/seccomp/kernel.test.ts',
];

export default defineConfig({
  test: {
    // Nothing is written beside the sources, so that a tree which belongs to somebody else can be tested.
    cache: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: SANDBOXED,
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'sandbox',
          include: SANDBOXED,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
