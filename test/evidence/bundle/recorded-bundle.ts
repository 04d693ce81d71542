import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import type { ManifestIdentity } from '../../../src/evidence/bundle/content-hash.ts';
import type { BundleLimits } from '../../../src/evidence/bundle/limits.ts';
import { makeEvents } from '../../../src/evidence/bundle/make-events.ts';
import { makeManifestBase } from '../../../src/evidence/bundle/manifest-base.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { type EventDraft, writeBundle } from '../../../src/evidence/bundle/write-bundle.ts';
import { generaliseRun } from '../../../src/evidence/general-run.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import { resolvePolicy } from '../../../src/policy/combine.ts';
import {
  digestEffectivePolicy,
  listToolchain,
  makeEffectivePolicy,
} from '../../../src/policy/effective-policy.ts';
import { MemorySpool } from './sample-run.ts';

/** As if it had run under the preset for coding agents. */
function draft(record: RunRecord): { manifest: ManifestIdentity; events: Iterable<EventDraft> } {
  const { variables } = record;
  const loaded = resolvePolicy({ preset: 'coding-agent', variables });
  const policy = makeEffectivePolicy(loaded, variables);
  const run = generaliseRun(record, { name: 'x' });
  const base = makeManifestBase(run, {
    assayVersion: '0.1.0',
    policyDigest: digestEffectivePolicy(policy),
  });
  const toolchain = listToolchain(loaded, variables);
  return { manifest: base, events: makeEvents({ run, base, policy, toolchain }) };
}

export function draftEvents(record: RunRecord): EventDraft[] {
  return [...draft(record).events];
}

/** Writes the bundle of a run, and reads it back with the verifier. */
export async function bundleOf(
  record: RunRecord,
  limits: Partial<BundleLimits> = {},
): Promise<{ manifest: BundleManifest; events: readonly BundleEvent[] }> {
  const { archive } = writeBundle({ ...draft(record), spool: new MemorySpool() });
  const events: BundleEvent[] = [];
  const { manifest } = await verifyBundle(archive, {
    onEvent: (event) => void events.push(event),
    limits,
  });
  return { manifest, events };
}
