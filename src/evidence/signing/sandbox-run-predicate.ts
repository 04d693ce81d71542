import type { BundleManifest } from '../bundle/bundle.ts';

/** docs/evidence-sign.md says what it holds. */
export const SANDBOX_RUN_TYPE = 'urn:assay:attestation:sandbox-run/v1';

/** What a signer says of a bundle: nothing that the bundle does not say itself. */
export function makeSandboxRunPredicate(manifest: BundleManifest): Record<string, unknown> {
  const { sandbox, producer } = manifest;
  return {
    bundleFormat: sandbox?.format ?? `evidence-bundle.schema-${manifest.schema_version}`,
    runId: manifest.run_id,
    runRoot: manifest.run_root,
    eventCount: manifest.event_count,
    producer: {
      name: producer.name,
      version: producer.version,
      ...(producer.git === undefined ? {} : { git: producer.git }),
    },
    // Bundles of the older format bind none of these.
    mode: sandbox ? sandbox.mode : null,
    policy: sandbox ? { name: sandbox.policy.name, digest: sandbox.policy.digest } : null,
    coverage: sandbox ? { ...sandbox.coverage } : null,
  };
}
