import { defineConfig } from 'vitest/config';

/** An attack that gets through once has got through: it is never tried again. */
const ATTACKS = ['test/escapes/**/*.test.ts'];

/** The same programs on every backend, and what is about one engine only. */
const KIT = ['test/conformance/**/*.test.ts', 'test/engines/**/*.test.ts'];

/** Tests that start sandboxes, compile C or measure time. */
const SANDBOXED = [
  'test/e2e/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/differential/**/*.test.ts',
  'test/workloads/**/*.test.ts',
  'test/launch/**/*.test.ts',
  'test/host/**/*.test.ts',
  'test/library/**/*.test.ts',
  'test/native/**/*.test.ts',
  'test/egress/sandboxed/**/*.test.ts',
  'test/backends/wasm/sandboxed/**/*.test.ts',
  'test/plan/seccomp/kernel.test.ts',
  'test/artifacts/page/browser*.test.ts',
];

/** Four files at a time, since much of it is waiting, after all others. */
const LATER = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    // Nothing is written beside the sources, so that a tree which belongs to somebody else can be tested.
    cache: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SANDBOXED, ...ATTACKS, ...KIT],
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...LATER,
          name: 'sandbox',
          include: SANDBOXED,
          // Real processes on a busy machine: what passes only when tried again is listed at the end of the run.
          retry: 1,
        },
      },
      { test: { ...LATER, name: 'escapes', include: ATTACKS } },
      {
        test: {
          ...LATER,
          name: 'conformance',
          include: KIT,
          retry: 1, // as above: engines, and machines that are emulated
          globalSetup: ['test/engines/dockerd-setup.ts'],
        },
      },
    ],
  },
});
