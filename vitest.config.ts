import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ATTACKS = ['test/escapes/**/*.test.ts'];

/** The same programs on every backend, and what is about one engine only. */
const KIT = ['test/conformance/**/*.test.ts', 'test/engines/**/*.test.ts'];

/** The same for everybody: these engines have no rights of their user's to give. */
const MACHINES = ['test/conformance/microvm.test.ts', 'test/conformance/wasm.test.ts'];

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

/** Those of them that root makes twice in one run: as root and as an ordinary user. */
const FOR_EACH_PERSON = readdirSync(join(import.meta.dirname, 'test'), { recursive: true })
  .map((name) => `test/${String(name)}`)
  .filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/escapes/'))
  .filter((path) =>
    readFileSync(join(import.meta.dirname, path), 'utf8').includes('describeForEachPerson('),
  );

/** Files that take a minute or more, the longest first: begun last, each would keep the others' workers waiting. */
const LONG = [
  'conformance/microvm',
  'conformance/gvisor',
  'conformance/gvisor-direct',
  'workloads/determinism',
  'conformance/docker',
  'conformance/wasm',
  'workloads/ground-truth',
  'escapes/limits',
  'conformance/local',
  'escapes/leftovers',
  'escapes/network',
  'escapes/configs',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const SHARED = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // More files at a time than there are cores, since much of it is waiting.
  maxWorkers: 6,
  // A test that needs another try has a fault, or the code has.
  retry: 0,
  // Files share what they import, which takes longer to load than most of them to run; none leaves anything behind.
  isolate: false,
};

export default defineConfig({
  test: {
    // Nothing is written beside the sources, so that a tree which belongs to somebody else can be tested.
    cache: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...SHARED,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SANDBOXED, ...ATTACKS, ...KIT],
        },
      },
      {
        test: {
          ...SHARED,
          name: 'sandbox',
          include: SANDBOXED,
          exclude: FOR_EACH_PERSON,
        },
      },
      {
        test: {
          ...SHARED,
          name: 'persons',
          include: FOR_EACH_PERSON,
        },
      },
      {
        test: {
          ...SHARED,
          name: 'escapes',
          include: ATTACKS,
          globalSetup: ['test/escapes/programs-setup.ts'],
        },
      },
      {
        test: {
          ...SHARED,
          name: 'conformance',
          include: KIT,
          exclude: MACHINES,
          // They count what their process holds.
          isolate: true,
          globalSetup: ['test/engines/dockerd-setup.ts'],
        },
      },
      {
        test: {
          ...SHARED,
          name: 'machines',
          include: MACHINES,
          isolate: true,
        },
      },
    ],
  },
});
