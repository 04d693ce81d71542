import { canonicalJson } from '../../core/canonical-json.ts';
import type { BundleManifest } from '../bundle/bundle.ts';
import { type Envelope, EnvelopeError, encodePae, PAYLOAD_TYPE } from './dsse.ts';
import { isSignedBy } from '../../core/keys/ed25519.ts';
import { RUNTIME_TRACE_TYPE } from './runtime-trace-predicate.ts';
import { makeSandboxRunPredicate, SANDBOX_RUN_TYPE } from './sandbox-run-predicate.ts';
import { decodeStatement, type Statement } from './statement.ts';
import type { TrustedKey } from '../../core/keys/trusted-keys.ts';

export interface SignatureInput {
  readonly envelopes: readonly Envelope[];
  readonly keys: readonly TrustedKey[];
  readonly manifest: BundleManifest;
  /** Of the bytes that were verified, in hex. */
  readonly sha256: string;
}

export interface Endorsement {
  readonly key: TrustedKey;
  readonly subjectName: string;
  readonly predicateType: string;
}

export interface SignatureOutcome {
  /** Every trusted key that signed a good statement about these bytes. */
  readonly endorsements: readonly Endorsement[];
  /** Why the rest does not count, the most telling first. */
  readonly problems: readonly {
    readonly check: 'signature' | 'subject';
    readonly reason: string;
  }[];
}

type Problem = SignatureOutcome['problems'][number];

/** Which of the keys vouch for the bundle. One good statement is enough; what others have signed does no harm. */
export function checkSignatures(input: SignatureInput): SignatureOutcome {
  const endorsements: Endorsement[] = [];
  const late: Problem[] = [];
  const early: Problem[] = [];
  for (const envelope of input.envelopes) {
    const signers = findSigners(envelope, input.keys);
    if (signers.length === 0) {
      early.push({ check: 'signature', reason: 'it is by none of the given keys' });
      continue;
    }
    // Only now that somebody trusted has signed it is the payload read.
    const statement = readStatement(envelope, input);
    if ('reason' in statement) late.push(statement);
    else endorsements.push(...signers.map((key) => ({ key, ...statement })));
  }
  return { endorsements, problems: [...late, ...early] };
}

/** The key id of a signature is not authenticated, so that every key is tried. */
function findSigners(envelope: Envelope, keys: readonly TrustedKey[]): TrustedKey[] {
  const message = encodePae(envelope);
  return keys.filter((key) => envelope.signatures.some(({ sig }) => isSignedBy(key, message, sig)));
}

function readStatement(envelope: Envelope, input: SignatureInput): Statement | Problem {
  try {
    if (envelope.payloadType !== PAYLOAD_TYPE)
      throw new EnvelopeError(`its payload type is ${JSON.stringify(envelope.payloadType)}`);
    const statement = decodeStatement(envelope.payload);
    if (statement.sha256 !== input.sha256)
      return { check: 'subject', reason: `it is about a file with SHA-256 ${statement.sha256}` };
    checkPredicate(statement, input.manifest);
    return statement;
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    return { check: 'signature', reason: error.message };
  }
}

/** The predicate must say of the run what the bundle says, so that nobody who reads only one of them is misled. */
function checkPredicate({ predicateType, predicate }: Statement, manifest: BundleManifest): void {
  if (predicateType === SANDBOX_RUN_TYPE) {
    for (const [name, value] of Object.entries(makeSandboxRunPredicate(manifest)))
      if (!Object.hasOwn(predicate, name) || !isEqual(predicate[name], value))
        throw new EnvelopeError(`the predicate says otherwise about ${name} than the bundle`);
  } else if (predicateType === RUNTIME_TRACE_TYPE) {
    const process = predicate['monitoredProcess'] as { event?: unknown } | null | undefined;
    if (process?.event !== manifest.run_id)
      throw new EnvelopeError('the predicate is about another run than the bundle');
  } else throw new EnvelopeError(`its predicate type is ${JSON.stringify(predicateType)}`);
}

function isEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
