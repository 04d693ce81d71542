import { canonicalJson } from '../../core/canonical-json.ts';
import { decodeText, EnvelopeError, parseStrictly, readObject } from './dsse.ts';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';

/** An in-toto Statement v1 with the one subject that ours have. */
export interface Statement {
  /** Of the file as the signer had it. Files may be renamed: the digest says which one is meant. */
  readonly subjectName: string;
  /** Of its bytes, in hex. */
  readonly sha256: string;
  readonly predicateType: string;
  readonly predicate: Readonly<Record<string, unknown>>;
}

export function encodeStatement(statement: Statement): Buffer {
  const { subjectName, sha256, predicateType, predicate } = statement;
  const subject = [{ name: subjectName, digest: { sha256 } }];
  return Buffer.from(canonicalJson({ _type: STATEMENT_TYPE, subject, predicateType, predicate }));
}

/** Fields that are not known are ignored, as in-toto asks for; what is known must be right. */
export function decodeStatement(payload: Uint8Array): Statement {
  const statement = readObject(parseStrictly(decodeText(payload)), 'the statement');
  const { _type: type, subject, predicateType } = statement;
  if (type !== STATEMENT_TYPE) throw new EnvelopeError(`_type is not ${STATEMENT_TYPE}`);
  if (!Array.isArray(subject) || subject.length !== 1)
    throw new EnvelopeError('the statement does not have exactly one subject');
  const { name, digest } = readObject(subject[0], 'the subject');
  const { sha256 } = readObject(digest, 'the digest of the subject');
  if (typeof name !== 'string') throw new EnvelopeError('the subject has no name');
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw new EnvelopeError('the subject has no SHA-256');
  if (typeof predicateType !== 'string') throw new EnvelopeError('predicateType is not a string');
  const predicate = readObject(statement['predicate'], 'the predicate');
  return { subjectName: name, sha256, predicateType, predicate };
}
