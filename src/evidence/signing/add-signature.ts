import {
  type Envelope,
  type EnvelopeLine,
  EnvelopeError,
  encodePae,
  formatEnvelope,
  PAYLOAD_TYPE,
} from './dsse.ts';
import { isSignedBy, type SigningKey } from '../../core/keys/ed25519.ts';
import { decodeStatement, encodeStatement, type Statement } from './statement.ts';

export interface Signed {
  /** The lines of the file, each without its break. */
  readonly lines: readonly string[];
  /** False: this key had signed this very statement before. */
  readonly isNew: boolean;
}

/**
 * Adds what `key` says to the lines of an envelope file: to the envelope that holds the same statement, or as a line of
 * its own. What the same key said of an earlier file of the same name is replaced.
 */
export function addSignature(
  lines: readonly EnvelopeLine[],
  statement: Statement,
  key: SigningKey,
): Signed {
  const payload = encodeStatement(statement);
  const message = encodePae({ payloadType: PAYLOAD_TYPE, payload });
  const signature = { keyid: key.keyId, sig: key.sign(message) };
  const kept = lines.filter(({ envelope }) => !isOutdated(envelope, statement, key));
  const same = kept.findIndex(({ text, envelope }) => isSame(text, envelope, payload));
  const texts = kept.map(({ text }) => text);
  const found = kept[same]?.envelope;
  if (found === undefined)
    texts.push(formatEnvelope({ payloadType: PAYLOAD_TYPE, payload, signatures: [signature] }));
  else if (found.signatures.some(({ sig }) => isSignedBy(key, message, sig)))
    return { lines: texts, isNew: false };
  else texts[same] = formatEnvelope({ ...found, signatures: [...found.signatures, signature] });
  return { lines: texts, isNew: true };
}

/** One that is written as we write it, so that nothing of it is lost when it is written again. */
function isSame(text: string, envelope: Envelope, payload: Buffer): boolean {
  return (
    envelope.payloadType === PAYLOAD_TYPE &&
    payload.equals(envelope.payload) &&
    formatEnvelope(envelope) === text
  );
}

function isOutdated(envelope: Envelope, statement: Statement, key: SigningKey): boolean {
  const message = encodePae(envelope);
  if (!envelope.signatures.every(({ sig }) => isSignedBy(key, message, sig))) return false;
  try {
    const { subjectName, predicateType, sha256 } = decodeStatement(envelope.payload);
    return (
      subjectName === statement.subjectName &&
      predicateType === statement.predicateType &&
      sha256 !== statement.sha256
    );
  } catch (error) {
    if (error instanceof EnvelopeError) return false;
    throw error;
  }
}
