import { canonicalJson } from '../../core/canonical-json.ts';
import { findJsonProblem } from '../../core/strict-json.ts';
import { decodeBase64 } from '../../core/keys/base64.ts';

/** Of an in-toto Statement, by the envelope specification of in-toto. */
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** One envelope a line. Small enough to try every signature with every key. */
export const ENVELOPE_LIMITS = { fileBytes: 4 * 1024 * 1024, lines: 64, signatures: 64 } as const;

const JSON_LIMITS = { depth: 64, keys: 10_000, stringLength: ENVELOPE_LIMITS.fileBytes };

export interface Signature {
  /** Who is said to have signed. Nothing vouches for it. */
  readonly keyid: string;
  readonly sig: Uint8Array;
}

/** A DSSE envelope (version 1.0.2), decoded. */
export interface Envelope {
  readonly payloadType: string;
  readonly payload: Uint8Array;
  readonly signatures: readonly Signature[];
}

export interface EnvelopeLine {
  readonly text: string;
  readonly envelope: Envelope;
}

/** What makes an envelope or the statement in it useless, in words that continue "the envelope cannot be used:". */
export class EnvelopeError extends Error {}

/** The bytes that are signed: type and payload with their lengths, so that neither can be taken for the other. */
export function encodePae({ payloadType, payload }: Omit<Envelope, 'signatures'>): Buffer {
  const type = Buffer.from(payloadType, 'utf8');
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `),
    type,
    Buffer.from(` ${payload.length} `),
    payload,
  ]);
}

/** One line, without the break at its end. */
export function formatEnvelope({ payloadType, payload, signatures }: Envelope): string {
  return canonicalJson({
    payloadType,
    payload: Buffer.from(payload).toString('base64'),
    signatures: signatures.map(({ keyid, sig }) => ({
      keyid,
      sig: Buffer.from(sig).toString('base64'),
    })),
  });
}

/** Every envelope of a file, one JSON object a line. */
export function parseEnvelopes(bytes: Uint8Array): readonly EnvelopeLine[] {
  if (bytes.length > ENVELOPE_LIMITS.fileBytes)
    throw new EnvelopeError(`it is larger than ${ENVELOPE_LIMITS.fileBytes} bytes`);
  const texts = decodeText(bytes)
    .split('\n')
    .filter((text) => text.trim() !== '');
  if (texts.length === 0) throw new EnvelopeError('it is empty');
  if (texts.length > ENVELOPE_LIMITS.lines)
    throw new EnvelopeError(`it has more than ${ENVELOPE_LIMITS.lines} lines`);
  const lines = texts.map((text) => ({ text, envelope: parseEnvelope(text) }));
  const count = lines.reduce((sum, { envelope }) => sum + envelope.signatures.length, 0);
  if (count > ENVELOPE_LIMITS.signatures)
    throw new EnvelopeError(`it has more than ${ENVELOPE_LIMITS.signatures} signatures`);
  return lines;
}

function parseEnvelope(text: string): Envelope {
  const { payloadType, payload, signatures } = readObject(parseStrictly(text), 'the envelope');
  if (typeof payloadType !== 'string') throw new EnvelopeError('payloadType is not a string');
  if (!Array.isArray(signatures) || signatures.length === 0)
    throw new EnvelopeError('there is no signature in it');
  return {
    payloadType,
    payload: readBase64(payload, 'payload'),
    signatures: signatures.map((signature: unknown) => {
      const { keyid, sig } = readObject(signature, 'a signature');
      if (keyid !== undefined && typeof keyid !== 'string')
        throw new EnvelopeError('keyid is not a string');
      return { keyid: keyid ?? '', sig: readBase64(sig, 'sig') };
    }),
  };
}

/** JSON without anything that two readers could read differently. */
export function parseStrictly(text: string): unknown {
  const problem = findJsonProblem(text, JSON_LIMITS);
  if (problem) throw new EnvelopeError(`${problem.message} (at character ${problem.offset + 1})`);
  return JSON.parse(text);
}

export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new EnvelopeError('it is not UTF-8');
  }
}

export function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EnvelopeError(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function readBase64(value: unknown, what: string): Buffer {
  const bytes = typeof value === 'string' ? decodeBase64(value) : undefined;
  if (bytes === undefined) throw new EnvelopeError(`${what} is not base64`);
  return bytes;
}
