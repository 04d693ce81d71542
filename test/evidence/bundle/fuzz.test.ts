import { describe, expect, it } from 'vitest';

import { fuzzBundles } from './fuzz.ts';

/** ASSAY_FUZZ=200000 for the full count; ASSAY_FUZZ_SEED to go on elsewhere. */
const COUNT = Number(process.env['ASSAY_FUZZ'] ?? 2000);
const SEED = Number(process.env['ASSAY_FUZZ_SEED'] ?? 1);
/** A good one takes a few milliseconds; the machine may be busy. */
const MAX_MS = 5000;

describe('verifyBundle() on mutated bundles', () => {
  it(
    `neither crashes nor hangs nor is fooled by ${COUNT} of them`,
    { timeout: 60_000 + COUNT * 20 },
    async () => {
      const { verdicts, slowestMs } = await fuzzBundles(COUNT, SEED);
      expect(slowestMs).toBeLessThan(MAX_MS);
      // Else the mutations do not reach far enough.
      if (COUNT >= 2000) expect(Object.keys(verdicts).length).toBeGreaterThan(30);
    },
  );
});
