import { gunzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { BundleError } from '../../../src/evidence/bundle/bundle-error.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import {
  startManifest,
  writeBundle,
  type BundleDraft,
  type EventDraft,
} from '../../../src/evidence/bundle/write-bundle.ts';
import { chunksOf, unpack } from './forge.ts';
import { collect, makeSampleBundle, makeSampleDraft, MemorySpool } from './sample-run.ts';

const EVENT: EventDraft = { type: 'a.b', time: '2026-01-02T03:04:05Z', data: {} };

function draft(change: Partial<BundleDraft> = {}): BundleDraft {
  const producer = { name: 'assay', version: '1' };
  return {
    manifest: startManifest({ producer, runId: 'run' }),
    spool: new MemorySpool(),
    events: [EVENT],
    ...change,
  };
}

function codeOf(bundle: BundleDraft): string {
  try {
    writeBundle(bundle);
    return 'written';
  } catch (error) {
    if (error instanceof BundleError) return error.code;
    throw error;
  }
}

describe('writeBundle()', () => {
  it('writes what verifyBundle() takes, and gives the manifest', async () => {
    const { manifest, archive } = writeBundle(makeSampleDraft());
    const result = await verifyBundle(chunksOf(await collect(archive)));
    expect(result.kind).toBe('sandbox');
    expect(result.manifest).toEqual(manifest);
  });

  it('writes the same bytes for the same events', async () => {
    const [first, second] = await Promise.all([makeSampleBundle(), makeSampleBundle()]);
    expect(first.equals(second)).toBe(true);
    expect(first.subarray(0, 10).toString('hex')).toBe('1f8b08000000000002ff');
    expect(gunzipSync(first).length % 512).toBe(0);
  });

  it('lets nothing but the time into what differs between equal runs', async () => {
    const later = makeSampleDraft();
    const events = Array.from(later.events, (event) => ({
      ...event,
      time: '2027-01-01T00:00:00.000Z',
    }));
    const a = writeBundle(makeSampleDraft()).manifest;
    const b = writeBundle({ ...later, events }).manifest;
    expect(b.run_root).toBe(a.run_root);
    expect({ ...b, files: a.files, seal: a.seal }).toEqual(a);
  });

  it('keeps text outside ASCII, and text that looks like markup', async () => {
    const data = { name: 'é\u2028😀\u0000</script>' };
    const { archive } = writeBundle(draft({ events: [{ ...EVENT, subject: '名', data }] }));
    const bundle = await collect(archive);
    expect(JSON.parse(unpack(bundle).events)).toMatchObject({ subject: '名', data });
    expect((await verifyBundle(chunksOf(bundle))).kind).toBe('upstream');
  });

  it.each<[string, string, BundleDraft]>([
    ['no event', 'ContractInvalidEvent', draft({ events: [] })],
    ['a source that is no URI', 'ContractInvalidEvent', draft({ envelope: { source: 'assay' } })],
    [
      'a source that starts with a colon',
      'ContractInvalidEvent',
      draft({ envelope: { source: ':a' } }),
    ],
    [
      'a colon in the run id',
      'ContractInvalidEvent',
      draft({ manifest: { ...draft().manifest, run_id: 'a:b' } }),
    ],
    [
      'an event that is too long for a line',
      'LimitLineBytes',
      draft({ events: [{ ...EVENT, data: 'x'.repeat(1 << 20) }] }),
    ],
  ])('refuses %s', (_, code, bundle) => {
    expect(codeOf(bundle)).toBe(code);
  });

  it('refuses to write a run that a verifier would refuse', () => {
    const sample = makeSampleDraft();
    const events = [...sample.events];
    expect(codeOf({ ...sample, events: events.filter((_, at) => at !== 6) })).toBe(
      'IntegrityRunDigest',
    );
    expect(codeOf({ ...sample, events: events.toReversed() })).toBe('ContractEventMissing');
    expect(codeOf({ ...sample, events: events.slice(0, -1) })).toBe('ContractEventMissing');
  });

  it('refuses half of a surrogate pair', () => {
    expect(() => writeBundle(draft({ events: [{ ...EVENT, subject: '\ud800' }] }))).toThrow(
      /surrogate/,
    );
    expect(() => writeBundle(draft({ events: [{ ...EVENT, data: '\ud800' }] }))).toThrow(
      /surrogate/,
    );
  });
});
