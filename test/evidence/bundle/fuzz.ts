import assert from 'node:assert/strict';

import { BundleError, BUNDLE_CODES } from '../../../src/evidence/bundle/bundle-error.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { makeUpstream } from './bad-bundles.ts';
import * as forge from './forge.ts';
import { Dice, mutate } from './mutations.ts';
import { makeSampleBundle } from './sample-run.ts';

export interface FuzzResult {
  /** How often, by the code or by the format of what was taken. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly slowestMs: number;
}

/** Verifies mutated bundles, the same ones for the same seed. Throws at a crash, and at one that was taken wrongly. */
export async function fuzzBundles(count: number, firstSeed: number): Promise<FuzzResult> {
  const ours = await makeSampleBundle();
  const older = forge.pack(makeUpstream());
  const facts = listFacts(ours);
  const verdicts: Record<string, number> = {};
  let slowestMs = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const dice = new Dice(seed);
    const isOurs = dice.roll(4) > 0;
    const [good, other] = isOurs ? [ours, older] : [older, ours];
    const { bytes, isResealed } = mutate(good, other, dice);
    const started = performance.now();
    const verdict = await judge(bytes);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    const where = `seed ${seed}`;
    if (verdict === 'sandbox' && !isResealed)
      assert.deepEqual(forge.unpack(bytes), forge.unpack(ours), where);
    if (verdict === 'sandbox') assert.deepEqual(listFacts(bytes), facts, where);
    // Nothing turns ours into the older format.
    if (isOurs) assert.notEqual(verdict, 'upstream', where);
  }
  return { verdicts, slowestMs };
}

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
function listFacts(bytes: Buffer): unknown {
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
