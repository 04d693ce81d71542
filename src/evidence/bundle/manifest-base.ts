import type { GeneralRun } from '../general-run.ts';
import { BUNDLE_FORMAT } from './bundle.ts';
import { NON_CLAIMS } from './coding-agent-pack.ts';
import type { ManifestIdentity } from './content-hash.ts';
import { startManifest } from './write-bundle.ts';

export interface ManifestBaseOptions {
  readonly assayVersion: string;
  readonly policyDigest: string;
}

/** What the manifest says of a run, before its events are counted and hashed. */
export function makeManifestBase(
  { content, id }: GeneralRun,
  { assayVersion, policyDigest }: ManifestBaseOptions,
): ManifestIdentity {
  const sandbox = {
    format: BUNDLE_FORMAT,
    run_digest: `sha256:${id.digest}`,
    policy: { name: content.policy.name, digest: policyDigest },
    mode: content.mode,
    level: content.level,
    coverage: Object.fromEntries(
      Object.entries(content.coverage).map(([surface, { status }]) => [surface, status]),
    ),
    non_claims: [
      ...NON_CLAIMS,
      'does_not_prove_who_made_it_without_a_signature',
      'does_not_bind_times',
    ],
    end: content.end,
  } as const;
  const producer = { name: 'assay', version: assayVersion };
  return startManifest({ producer, runId: id.runId, sandbox });
}
