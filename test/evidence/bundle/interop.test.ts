import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { sha256Hex } from '../../../src/core/digest.ts';
import { BundleError } from '../../../src/evidence/bundle/bundle-error.ts';
import type { BundleEvent } from '../../../src/evidence/bundle/bundle.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { startManifest, writeBundle } from '../../../src/evidence/bundle/write-bundle.ts';
import { parse, unpack } from './forge.ts';
import { collect, MemorySpool } from './sample-run.ts';

/** Bundles of another implementation, where they lie beside the checkout. */
const INTEROP = join(import.meta.dirname, '../../../../shared/interop');
const NOT_RUN = 'not run: the bundles are not here';

const GOOD = [
  'bundles/upstream/test-bundle.tar.gz',
  'bundles/upstream/demo-export-bundle.tar.gz',
  'bundles/upstream/receipt-cyclonedx.tar.gz',
  'bundles/upstream/receipt-openfeature.tar.gz',
  'bundles/upstream/receipt-promptfoo.tar.gz',
  'derived/derived-sandbox-true.bundle.tar.gz',
];

interface Rewritten {
  readonly manifest: string;
  readonly events: string;
}

/** What our writer makes of the events of somebody else. */
async function rewrite(
  producer: { readonly name: string; readonly version: string; readonly git?: string },
  events: readonly BundleEvent[],
): Promise<Rewritten> {
  const [first] = events;
  if (!first) throw new Error('There is no event');
  const { source, assayproducer, assayproducerversion, assaygit } = first;
  const { archive } = writeBundle({
    manifest: startManifest({ producer, runId: first.assayrunid }),
    envelope: { source, assayproducer, assayproducerversion, assaygit },
    events,
    spool: new MemorySpool(),
  });
  return unpack(await collect(archive));
}

describe.skipIf(!existsSync(INTEROP))(
  `bundles of another implementation (${NOT_RUN} if skipped)`,
  () => {
    it.each(GOOD)('are intact, with nothing that binds them: %s', async (name) => {
      const path = join(INTEROP, name);
      const result = await verifyBundle(createReadStream(path));
      expect(result.kind).toBe('upstream');
      expect(result.checks.find(({ name: check }) => check === 'identity')?.detail).toMatch(
        /^not bound/,
      );
    });

    it.each(GOOD)('are written again byte for byte: %s', async (name) => {
      const bundle = readFileSync(join(INTEROP, name));
      const { manifest, events } = parse(bundle);
      expect(await rewrite(manifest.producer, events)).toEqual(unpack(bundle));
    });

    it('is refused with the same code when the manifest is not JSON', async () => {
      const path = join(INTEROP, 'bundles/upstream/invalid-manifest.bundle.tar.gz');
      const error = await verifyBundle(createReadStream(path)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BundleError);
      expect(error).toMatchObject({
        code: 'ContractInvalidJson',
        reason: 'E_EVIDENCE_CONTRACT',
        exitCode: 2,
      });
    });

    it('has the digests that its tests pin', async () => {
      const golden = JSON.parse(
        readFileSync(join(INTEROP, 'derived/determinism-golden.json'), 'utf8'),
      ) as { event: BundleEvent; sha256_manifest_json: string; sha256_events_ndjson: string };
      const { assayproducer: name, assayproducerversion: version, assaygit: git } = golden.event;
      const { manifest, events } = await rewrite({ name, version, git }, [golden.event]);
      expect(sha256Hex(manifest)).toBe(golden.sha256_manifest_json);
      expect(sha256Hex(events)).toBe(golden.sha256_events_ndjson);
    });

    it('is the one that was worked out for a run of true', async () => {
      const read = (name: string): string => readFileSync(join(INTEROP, 'derived', name), 'utf8');
      const text = read('derived-sandbox-true.events.ndjson');
      const events = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as BundleEvent);
      const written = await rewrite({ name: 'assay-cli', version: '5.4.0' }, events);
      expect(written).toEqual({
        manifest: read('derived-sandbox-true.manifest.json').trimEnd(),
        events: text,
      });
    });
  },
);
