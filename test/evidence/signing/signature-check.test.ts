import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import { addSignature } from '../../../src/evidence/signing/add-signature.ts';
import {
  type Envelope,
  encodePae,
  formatEnvelope,
  parseEnvelopes,
  PAYLOAD_TYPE,
} from '../../../src/evidence/signing/dsse.ts';
import type { SigningKey } from '../../../src/core/keys/ed25519.ts';
import { parsePrivateKey } from '../../../src/core/keys/private-key.ts';
import {
  makeSandboxRunPredicate,
  SANDBOX_RUN_TYPE,
} from '../../../src/evidence/signing/sandbox-run-predicate.ts';
import { checkSignatures } from '../../../src/evidence/signing/signature-check.ts';
import { encodeStatement, type Statement } from '../../../src/evidence/signing/statement.ts';

function makeKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return parsePrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 'k');
}

const MANIFEST: BundleManifest = {
  schema_version: 1,
  bundle_id: `sha256:${'1'.repeat(64)}`,
  producer: { name: 'assay', version: '0.1.0' },
  run_id: 'sandbox_0123456789abcdef',
  event_count: 12,
  run_root: `sha256:${'1'.repeat(64)}`,
  algorithms: { canon: 'jcs-rfc8785', hash: 'sha256', root: '' },
  files: {},
  sandbox: {
    format: 'assay.sandbox-bundle.v1',
    run_digest: `sha256:${'2'.repeat(64)}`,
    policy: { name: 'policy.yaml', digest: `sha256:${'3'.repeat(64)}` },
    mode: 'containment',
    level: 'all',
    coverage: { reads: 'complete', network: 'complete' },
    non_claims: [],
    end: { exit_code: 0, signal: 0, timed_out: false, limit: null, exec_error: null },
  },
};
const SHA256 = '4'.repeat(64);

const ops = makeKey();
const eve = makeKey();

function makeStatement(altered: Partial<Statement> = {}): Statement {
  return {
    subjectName: 'run.bundle.tar.gz',
    sha256: SHA256,
    predicateType: SANDBOX_RUN_TYPE,
    predicate: makeSandboxRunPredicate(MANIFEST),
    ...altered,
  };
}

function seal(payload: Uint8Array, key: SigningKey, payloadType = PAYLOAD_TYPE): Envelope {
  const sig = key.sign(encodePae({ payloadType, payload }));
  return { payloadType, payload, signatures: [{ keyid: key.keyId, sig }] };
}

function check(...envelopes: readonly Envelope[]): ReturnType<typeof checkSignatures> {
  const keys = [{ keyId: ops.keyId, point: ops.point, file: 'ops.pub', name: 'ops' }];
  return checkSignatures({ envelopes, keys, manifest: MANIFEST, sha256: SHA256 });
}

const good = seal(encodeStatement(makeStatement()), ops);
const byEve = seal(encodeStatement(makeStatement()), eve);

describe('checkSignatures()', () => {
  it('names the key that signed', () => {
    expect(check(good)).toMatchObject({
      endorsements: [{ key: { file: 'ops.pub' }, subjectName: 'run.bundle.tar.gz' }],
      problems: [],
    });
  });

  it('finds one good signature among others, whatever the key ids say', () => {
    const liar = {
      ...good.signatures[0],
      keyid: eve.keyId,
      sig: good.signatures[0]?.sig ?? ops.point,
    };
    const mixed = { ...good, signatures: [...byEve.signatures, liar] };
    expect(check(mixed).endorsements).toHaveLength(1);
    expect(check(byEve, mixed).endorsements).toHaveLength(1);
  });

  it('takes a file that was renamed since', () => {
    const renamed = seal(encodeStatement(makeStatement({ subjectName: 'else.tar.gz' })), ops);
    expect(check(renamed).endorsements).toMatchObject([{ subjectName: 'else.tar.gz' }]);
  });

  it('does not read what nobody trusted has signed', () => {
    expect(check(seal(Buffer.from('garbage'), eve)).problems).toEqual([
      { check: 'signature', reason: 'it is by none of the given keys' },
    ]);
  });

  it.each<[string, Envelope, string]>([
    ['another key, under our key id', rename(byEve, ops.keyId), 'none of the given keys'],
    ['an altered payload', { ...good, payload: flip(good.payload) }, 'none of the given keys'],
    ['another payload type', { ...good, payloadType: 'text/plain' }, 'none of the given keys'],
    [
      'another payload type, signed',
      seal(good.payload, ops, 'application/json'),
      'its payload type is "application/json"',
    ],
    [
      'the signature of another envelope',
      { ...good, signatures: seal(Buffer.from('{}'), ops).signatures },
      'none of the given keys',
    ],
    [
      'a signature over the payload alone, without its type',
      { ...good, signatures: [{ keyid: '', sig: ops.sign(good.payload) }] },
      'none of the given keys',
    ],
    ['an empty signature', { ...good, signatures: [{ keyid: '', sig: Buffer.alloc(0) }] }, 'none'],
    ['no statement', seal(Buffer.from('hello'), ops), 'a value is missing'],
    [
      'a member twice in the statement',
      seal(Buffer.from(String(encodeStatement(makeStatement())).replace('{', '{"_type":"",')), ops),
      'is there twice',
    ],
    [
      'another predicate type',
      seal(encodeStatement(makeStatement({ predicateType: 'urn:x' })), ops),
      'its predicate type is "urn:x"',
    ],
    [
      'a predicate about another run',
      seal(
        encodeStatement(
          makeStatement({ predicate: { ...makeSandboxRunPredicate(MANIFEST), runId: 'x' } }),
        ),
        ops,
      ),
      'the predicate says otherwise about runId',
    ],
    [
      'a predicate that leaves coverage out',
      seal(encodeStatement(makeStatement({ predicate: { runId: MANIFEST.run_id } })), ops),
      'the predicate says otherwise about',
    ],
  ])('refuses %s', (_, envelope, reason) => {
    const { endorsements, problems } = check(envelope);
    expect(endorsements).toEqual([]);
    expect(problems).toMatchObject([
      { check: 'signature', reason: expect.stringContaining(reason) as string },
    ]);
  });

  it('refuses a good signature of another file as that', () => {
    const other = seal(encodeStatement(makeStatement({ sha256: '5'.repeat(64) })), ops);
    expect(check(other).problems).toMatchObject([{ check: 'subject' }]);
  });
});

function flip(payload: Uint8Array): Uint8Array {
  const altered = Buffer.from(payload);
  altered[10] = (altered[10] ?? 0) ^ 1;
  return altered;
}

function rename(envelope: Envelope, keyid: string): Envelope {
  return { ...envelope, signatures: envelope.signatures.map(({ sig }) => ({ keyid, sig })) };
}

describe('addSignature()', () => {
  const sign = (
    lines: readonly string[],
    key: SigningKey,
    statement = makeStatement(),
  ): ReturnType<typeof addSignature> =>
    addSignature(
      lines.length === 0 ? [] : parseEnvelopes(Buffer.from(lines.join('\n'))),
      statement,
      key,
    );
  const first = sign([], ops);

  it('makes a line, and the same key does not make another', () => {
    expect(first).toEqual({ lines: [formatEnvelope(good)], isNew: true });
    expect(sign(first.lines, ops)).toEqual({ lines: first.lines, isNew: false });
  });

  it('adds the signature of another key to the same envelope', () => {
    const second = sign(first.lines, eve);
    expect(second.lines).toHaveLength(1);
    const [line] = parseEnvelopes(Buffer.from(second.lines.join('\n')));
    expect(line?.envelope.signatures.map(({ keyid }) => keyid)).toEqual([ops.keyId, eve.keyId]);
    expect(line && check(line.envelope).endorsements).toHaveLength(1);
  });

  it('leaves an envelope alone that somebody else wrote, and adds a line', () => {
    const foreign = first.lines[0]?.replace('{', '{"note":1,') ?? '';
    const { lines } = sign([foreign], eve);
    expect(lines[0]).toBe(foreign);
    expect(lines).toHaveLength(2);
  });

  it('replaces what the key said of an earlier file of that name, and nothing else', () => {
    const later = makeStatement({ sha256: '6'.repeat(64) });
    expect(sign(first.lines, ops, later).lines).toHaveLength(1);
    expect(sign(first.lines, eve, later).lines).toHaveLength(2);
    const elsewhere = makeStatement({ sha256: '6'.repeat(64), subjectName: 'b.tar.gz' });
    expect(sign(first.lines, ops, elsewhere).lines).toHaveLength(2);
  });
});
