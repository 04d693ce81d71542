import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { makeSampleBundle } from './sample-run.ts';

async function* chunksOf(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('writeBundle()', () => {
  it('writes what verifyBundle() takes', async () => {
    const bundle = await makeSampleBundle();
    const result = await verifyBundle(chunksOf(bundle));
    expect(result).toMatchObject({ kind: 'sandbox', bytes: bundle.length });
    expect(gunzipSync(bundle).length % 512).toBe(0);
  });
});
