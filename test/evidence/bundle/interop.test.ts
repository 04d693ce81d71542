import { createReadStream } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';

/** Bundles of another implementation, where they lie beside the checkout. */
const INTEROP =
  process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../../../shared/interop');

const BUNDLES: Readonly<Record<string, string>> = {
  'bundles/upstream/test-bundle.tar.gz': 'upstream',
  'bundles/upstream/demo-export-bundle.tar.gz': 'upstream',
  'bundles/upstream/receipt-cyclonedx.tar.gz': 'upstream',
  'bundles/upstream/receipt-openfeature.tar.gz': 'upstream',
  'bundles/upstream/receipt-promptfoo.tar.gz': 'upstream',
  'bundles/upstream/invalid-manifest.bundle.tar.gz': 'ContractInvalidJson',
  'derived/derived-sandbox-true.bundle.tar.gz': 'upstream',
};

describe('verifyBundle() on bundles of another implementation', () => {
  it.each(Object.entries(BUNDLES))('says of %s: %s', async (name, verdict) => {
    const result = await verifyBundle(createReadStream(join(INTEROP, name))).then(
      ({ kind }) => kind,
      (error: { code: string }) => error.code,
    );
    expect(result).toBe(verdict);
  });
});
