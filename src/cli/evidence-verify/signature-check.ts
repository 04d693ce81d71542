import { existsSync } from 'node:fs';
import { AssayError } from '../../core/errors.ts';
import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import {
  type Envelope,
  ENVELOPE_LIMITS,
  EnvelopeError,
  parseEnvelopes,
} from '../../evidence/signing/dsse.ts';
import { checkSignatures, type Endorsement } from '../../evidence/signing/signature-check.ts';
import type { TrustedKey } from '../../core/keys/trusted-keys.ts';
import { readBounded, readBoundedBeside } from '../bounded-file.ts';
import type { Check } from './report.ts';

/** What there is to check a signature with. */
export interface SignatureSource {
  readonly keys: readonly TrustedKey[];
  /** The file to look in; undefined when the bundle comes from standard input and none was named. */
  readonly file: string | undefined;
  readonly isThere: boolean;
  readonly content?: Uint8Array | undefined;
}

export interface SignatureChecks {
  readonly checks: readonly Check[];
  readonly endorsements: readonly Endorsement[];
}

/** Read before the bundle, so that a mistake in the command line shows at once. */
export function readSignature(
  named: string | undefined,
  { bundle, keys }: { readonly bundle: string; readonly keys: readonly TrustedKey[] },
): SignatureSource {
  const file = named ?? (bundle === '-' ? undefined : `${bundle}.intoto.jsonl`);
  if (file === undefined) return { keys, file, isThere: false };
  // Without a key nothing is asked of it.
  if (named === undefined && keys.length === 0) return { keys, file, isThere: existsSync(file) };
  try {
    const read = named === undefined ? readBoundedBeside : readBounded;
    const content = read(file, ENVELOPE_LIMITS.fileBytes);
    return { keys, file, isThere: content !== undefined, content };
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot read the signature "${file}": ${(cause as Error).message}`,
      { hint: 'Name the file that assay evidence sign wrote, which ends in .intoto.jsonl', cause },
    );
  }
}

export function makeSignatureChecks(
  source: SignatureSource,
  { manifest, sha256 }: VerifiedBundle,
): SignatureChecks {
  const { keys, file, content } = source;
  if (content === undefined || keys.length === 0)
    return { checks: [explainUnknown(source)], endorsements: [] };
  let envelopes: readonly Envelope[];
  try {
    envelopes = parseEnvelopes(content).map(({ envelope }) => envelope);
  } catch (error) {
    if (error instanceof EnvelopeError) return refuse('signature', `${file}: ${error.message}`);
    throw error;
  }
  const { endorsements, problems } = checkSignatures({ envelopes, keys, manifest, sha256 });
  const [endorsement] = endorsements;
  const [problem] = problems;
  if (endorsement === undefined)
    return refuse(problem?.check ?? 'signature', `${file}: ${problem?.reason ?? 'it is empty'}`);
  return {
    checks: [
      { name: 'signature', status: 'passed', detail: describeSigners(endorsements) },
      {
        name: 'subject',
        status: 'passed',
        detail: `these bytes, signed as ${JSON.stringify(endorsement.subjectName)}`,
      },
    ],
    endorsements,
  };
}

function refuse(name: 'signature' | 'subject', detail: string): SignatureChecks {
  const signature = { name: 'signature', status: 'passed', detail: 'by a given key' } as const;
  const failed = { name, status: 'failed', detail, verdict: 'signature wrong' } as const;
  return { checks: name === 'subject' ? [signature, failed] : [failed], endorsements: [] };
}

/** Why nobody can be named, which is no fault of the bundle. */
function explainUnknown({ file, isThere, keys }: SignatureSource): Check {
  const found = isThere ? `${file} was not looked at` : 'there is none';
  const place = !isThere && file !== undefined ? ` at ${file}` : '';
  const advice = keys.length === 0 ? '; no --key says whom to trust' : '';
  return {
    name: 'signature',
    status: 'skipped',
    detail: `${found}${place}${advice}`,
  };
}

function describeSigners(endorsements: readonly Endorsement[]): string {
  const keys = new Map(endorsements.map(({ key }) => [key.keyId, key]));
  return [...keys.values()]
    .map(({ keyId, name, file }) => `Ed25519 ${keyId} (${name ? `${name}, ` : ''}${file})`)
    .join(', ');
}
