import { performance } from 'node:perf_hooks';

import { describe, expect, it } from 'vitest';

import { BundleError, BUNDLE_CODES } from '../../../src/evidence/bundle/bundle-error.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { makeUpstream } from './bad-bundles.ts';
import * as forge from './forge.ts';
import { Dice, mutate } from './mutations.ts';
import { makeSampleBundle } from './sample-run.ts';

/** ASSAY_FUZZ=200000 for the full count; ASSAY_FUZZ_SEED to go on elsewhere. */
const COUNT = Number(process.env['ASSAY_FUZZ'] ?? 2000);
const SEED = Number(process.env['ASSAY_FUZZ_SEED'] ?? 1);
/** A good one takes a few milliseconds; the machine may be busy. */
const MAX_MS = 5000;

async function judge(bytes: Buffer): Promise<string> {
  try {
    return (await verifyBundle(forge.chunksOf(bytes))).kind;
  } catch (error) {
    // Anything else is a crash.
    if (error instanceof BundleError && Object.hasOwn(BUNDLE_CODES, error.code)) return error.code;
    throw error;
  }
}

/** What the run digest covers. */
function listLines(bytes: Buffer): unknown {
  const { manifest, events } = forge.parse(bytes);
  return {
    end: manifest.sandbox?.end as unknown,
    command: events[0].data.command as unknown,
    lines: events
      .filter(({ data }) => typeof data.op === 'string' && data.system !== true)
      .map(({ data: { op, path, target, outcome, program, refused_by, digest } }): unknown => [
        op,
        path,
        target,
        outcome,
        program,
        refused_by,
        digest,
      ]),
  };
}

describe('verifyBundle() on mutated bundles', () => {
  it(
    `neither crashes nor hangs nor is fooled by ${COUNT} of them`,
    { timeout: 60_000 + COUNT * 20 },
    async () => {
      const ours = await makeSampleBundle();
      const older = forge.pack(makeUpstream());
      const verdicts = new Map<string, number>();
      let slowest = 0;
      for (let at = 0; at < COUNT; at += 1) {
        const seed = SEED * 1_000_003 + at;
        const dice = new Dice(seed);
        const isOurs = dice.roll(4) > 0;
        const [good, other] = isOurs ? [ours, older] : [older, ours];
        const { bytes, isResealed } = mutate(good, other, dice);
        const started = performance.now();
        const verdict = await judge(bytes);
        slowest = Math.max(slowest, performance.now() - started);
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
        if (verdict === 'sandbox' && !isResealed)
          expect(forge.unpack(bytes), `seed ${seed}`).toEqual(forge.unpack(ours));
        if (verdict === 'sandbox')
          expect(listLines(bytes), `seed ${seed}`).toEqual(listLines(ours));
        // Nothing turns ours into the older format.
        if (isOurs) expect(verdict, `seed ${seed}`).not.toBe('upstream');
      }
      expect(slowest).toBeLessThan(MAX_MS);
      // Else the mutations do not reach far enough.
      if (COUNT >= 2000) expect(verdicts.size).toBeGreaterThan(30);
      if (process.env['ASSAY_FUZZ'] !== undefined)
        console.log(COUNT, `slowest ${slowest.toFixed(0)} ms`, Object.fromEntries(verdicts));
    },
  );
});
