import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePrivateKey } from '../../../src/core/keys/private-key.ts';
import type { BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import { addSignature } from '../../../src/evidence/signing/add-signature.ts';
import { EnvelopeError, parseEnvelopes } from '../../../src/evidence/signing/dsse.ts';
import {
  makeSandboxRunPredicate,
  SANDBOX_RUN_TYPE,
} from '../../../src/evidence/signing/sandbox-run-predicate.ts';
import { checkSignatures } from '../../../src/evidence/signing/signature-check.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const key = parsePrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 'k');
const MANIFEST = {
  schema_version: 1,
  run_id: 'r',
  run_root: 'sha256:0',
  event_count: 1,
  producer: { name: 'assay', version: '1' },
} as BundleManifest;
const STATEMENT = {
  subjectName: 'run.bundle.tar.gz',
  sha256: 'a'.repeat(64),
  predicateType: SANDBOX_RUN_TYPE,
  predicate: makeSandboxRunPredicate(MANIFEST),
};
const GOOD = Buffer.from(addSignature([], STATEMENT, key).lines.join('\n'));

/** Whether a file of envelopes convinces; undefined when it is none. */
function judge(bytes: Uint8Array): boolean | undefined {
  try {
    const { endorsements } = checkSignatures({
      envelopes: parseEnvelopes(bytes).map(({ envelope }) => envelope),
      keys: [{ ...key, file: 'k', name: '' }],
      manifest: MANIFEST,
      sha256: STATEMENT.sha256,
    });
    return endorsements.length > 0;
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

/** What is signed and the signature, which is all that may decide. */
function essence(bytes: Uint8Array): string {
  return JSON.stringify(
    parseEnvelopes(bytes).map(({ envelope: { payloadType, payload, signatures } }) => [
      payloadType,
      Buffer.from(payload).toString('hex'),
      signatures.map(({ sig }) => Buffer.from(sig).toString('hex')),
    ]),
  );
}

const edit = fc.record({
  at: fc.nat(GOOD.length - 1),
  count: fc.nat(3),
  bytes: fc.uint8Array({ maxLength: 4 }),
});

describe('an envelope file', () => {
  it('convinces as it was written', () => {
    expect(judge(GOOD)).toBe(true);
  });

  it('never crashes the reader, and never convinces when what is signed or the signature was altered', () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let bytes = GOOD;
        for (const { at, count, bytes: put } of edits)
          bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + count)]);
        if (judge(bytes) === true) expect(essence(bytes)).toBe(essence(GOOD));
      }),
      { numRuns: 20_000 },
    );
  });

  it('never crashes the reader with any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(judge(Buffer.from(JSON.stringify(value)))).toBeUndefined();
      }),
      { numRuns: 5_000 },
    );
  });
});
