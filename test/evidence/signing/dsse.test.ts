import { describe, expect, it } from 'vitest';
import { encodePae, formatEnvelope, parseEnvelopes } from '../../../src/evidence/signing/dsse.ts';
import { decodeStatement, encodeStatement } from '../../../src/evidence/signing/statement.ts';

const ENVELOPE = {
  payloadType: 'application/vnd.in-toto+json',
  payload: Buffer.from('{}'),
  signatures: [{ keyid: 'k', sig: Buffer.from('s') }],
};
const LINE = formatEnvelope(ENVELOPE);

describe('encodePae()', () => {
  it('gives the example of the DSSE protocol', () => {
    const payload = Buffer.from('hello world');
    expect(encodePae({ payloadType: 'http://example.com/HelloWorld', payload }).toString()).toBe(
      'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
    );
  });

  it('counts bytes, not characters', () => {
    const payload = Buffer.from('ü');
    expect(encodePae({ payloadType: 'ß', payload }).toString()).toBe('DSSEv1 2 ß 2 ü');
  });
});

describe('parseEnvelopes()', () => {
  const parse = (text: string): unknown => parseEnvelopes(Buffer.from(text));

  it('reads what formatEnvelope() writes, and blank lines between', () => {
    const lines = parseEnvelopes(Buffer.from(`${LINE}\n\n${LINE}\n`));
    expect(lines).toEqual([
      { text: LINE, envelope: ENVELOPE },
      { text: LINE, envelope: ENVELOPE },
    ]);
  });

  it('reads an envelope of somebody else: without a key id, URL-safe, with more members', () => {
    const text = '{"extra":[],"payloadType":"t","signatures":[{"sig":"-_8="}],"payload":"e30="}';
    expect(parseEnvelopes(Buffer.from(text))[0]?.envelope).toEqual({
      payloadType: 't',
      payload: Buffer.from('{}'),
      signatures: [{ keyid: '', sig: Buffer.from([0xfb, 0xff]) }],
    });
  });

  it.each<[string, string, string]>([
    ['nothing', '', 'it is empty'],
    ['no JSON', 'x', 'a value is missing'],
    ['a list', '[]', 'the envelope is not an object'],
    ['a member twice', LINE.replace('{', '{"payload":"e30=",'), '"payload" is there twice'],
    [
      'a member twice, once escaped',
      LINE.replace('{', String.raw`{"p\u0061yload":"e30=",`),
      'is there twice',
    ],
    ['a member twice in a signature', LINE.replace('{"keyid"', '{"sig":"","keyid"'), 'twice'],
    ['half of a surrogate pair', LINE.replace('"k"', String.raw`"\ud800"`), 'surrogate'],
    ['something after it', `${LINE} {}`, 'something follows the value'],
    ['cut off base64', LINE.replace('"e30="', '"e30"'), 'payload is not base64'],
    ['base64 with stray bits', LINE.replace('"e30="', '"e31="'), 'payload is not base64'],
    ['base64 with a blank', LINE.replace('"e30="', '"e3 0="'), 'payload is not base64'],
    ['base64 of two alphabets', LINE.replace('"e30="', '"+-+-"'), 'payload is not base64'],
    ['a signature cut off', LINE.replace('"cw=="', '"cw="'), 'sig is not base64'],
    ['no payload', LINE.replace('"payload"', '"other"'), 'payload is not base64'],
    ['no payload type', LINE.replace('"payloadType"', '"other"'), 'payloadType is not a string'],
    ['no signatures', LINE.replace('"signatures"', '"other"'), 'there is no signature in it'],
    [
      'an empty list of signatures',
      '{"payload":"","payloadType":"","signatures":[]}',
      'no signature',
    ],
    ['a key id that is no string', LINE.replace('"k"', '1'), 'keyid is not a string'],
    ['too many lines', `${LINE}\n`.repeat(65), 'more than 64 lines'],
    [
      'too many signatures',
      LINE.replace(/\[.*\]/, `[${Array.from({ length: 65 }, () => '{"sig":""}').join()}]`),
      'more than 64 signatures',
    ],
    ['too much', ' '.repeat(4 * 1024 * 1024 + 1), 'larger than'],
    ['deep nesting', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 'nested deeper than 64'],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });

  it('refuses what is not UTF-8', () => {
    expect(() => parseEnvelopes(Buffer.from([0x7b, 0xff]))).toThrow('not UTF-8');
  });
});

describe('decodeStatement()', () => {
  const statement = {
    subjectName: 'run.bundle.tar.gz',
    sha256: 'a'.repeat(64),
    predicateType: 'urn:x',
    predicate: { runId: 'r' },
  };
  const text = encodeStatement(statement).toString();

  it('reads what encodeStatement() writes', () => {
    expect(decodeStatement(Buffer.from(text))).toEqual(statement);
  });

  it.each<[string, string, string]>([
    ['another type', text.replace('Statement/v1', 'Statement/v0.1'), '_type is not'],
    ['a member twice', text.replace('{', '{"predicateType":"urn:y",'), 'is there twice'],
    ['a digest twice', text.replace('{"sha256"', '{"sha256":"","sha256"'), 'is there twice'],
    ['a member of the predicate twice', text.replace('{"runId"', '{"runId":1,"runId"'), 'twice'],
    ['no subject', text.replace(/\[.*\]/, '[]'), 'exactly one subject'],
    ['two subjects', text.replace(/\[(.*)\]/, '[$1,$1]'), 'exactly one subject'],
    ['a subject without a name', text.replace('"name"', '"uri"'), 'the subject has no name'],
    ['another digest', text.replace('"sha256"', '"sha512"'), 'the subject has no SHA-256'],
    ['a digest in capitals', text.replace('aaa', 'AAA'), 'the subject has no SHA-256'],
    ['no predicate', text.replace('"predicate"', '"other"'), 'the predicate is not an object'],
    ['no predicate type', text.replace('"predicateType"', '"other"'), 'predicateType is not'],
    ['a byte order mark', `\ufeff${text}`, 'a value is missing'],
  ])('refuses %s', (_, altered, reason) => {
    expect(altered).not.toBe(text);
    expect(() => decodeStatement(Buffer.from(altered))).toThrow(reason);
  });
});
