import type { Duplex } from 'node:stream';
import type { ByteReader } from './byte-reader.ts';
import { isTlsRecord, readClientHello } from './tls-hello.ts';

/** What a client begins to speak in a tunnel. */
export type FirstWords =
  | { readonly kind: 'http' }
  | { readonly kind: 'tls'; readonly serverName?: string | undefined }
  | { readonly kind: 'other' }
  /** It spoke, and then nothing could be made of it. */
  | { readonly kind: 'bad'; readonly problem: string };

export interface LookOptions {
  readonly upstream: Duplex;
  /** Nothing may pass that is not understood. */
  readonly isStrict: boolean;
  readonly headMs: number;
}

type Guess = 'tls' | 'http' | 'other' | 'wait' | 'unsure' | 'breaks';

const MAX_LINE = 16_384;
/** Each that comes has all of them looked at again. */
const MAX_BREAKS = 1024;
/** Skipped by servers before a request, so they hide none here. */
const BREAKS = /^[\r\n]*/;
const METHOD =
  /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PROPFIND|REPORT|MKCOL|COPY|MOVE|LOCK|UNLOCK) /;
/** Whatever some server takes for a blank between the words of a request, or skips before them. */
const VERSION = /[^!-~]HTTP\/\d/i;
const LIKE_REQUEST = /^[^!-~]*[\w!#$%&'*+.^`|~-]+[^!-~]+(?:\/|\*|https?:)/i;
// oxlint-disable-next-line no-control-regex
const TEXT = /^[\t\v\f\u001c-\u007e\u0080-\u00ff]*\r?$/;
const HTTP2_PREFACE = /^PRI \* HTTP\/2\.0\r?\n/;

/**
 * Looks at what the client says first. Bytes stay with the reader, except where a protocol of lines or letters may wait
 * for an answer to them: those are handed on, and are still watched until it is clear that they are not HTTP.
 */
export async function lookAtFirst(
  reader: ByteReader,
  { upstream, isStrict, headMs }: LookOptions,
): Promise<FirstWords> {
  let passed = Buffer.alloc(0);
  let guess: Guess = 'wait';
  let seen = 0;
  let isHeld = false;
  for (;;) {
    const all = passed.length === 0 ? reader.bytes : Buffer.concat([passed, reader.bytes]);
    // Letters after letters change nothing: to look at all of them each time would be work without end.
    if (seen === 0 || guess === 'tls' || !isMoreText(all, seen))
      guess = guessProtocol(all, isStrict);
    seen = all.length;
    if (guess === 'other') return { kind: 'other' };
    if (guess === 'breaks') return { kind: 'bad', problem: 'nothing but line breaks came' };
    if (guess === 'http') {
      if (passed.length === 0) return { kind: 'http' };
      return { kind: 'bad', problem: 'an HTTP request came in pieces' };
    }
    if (guess === 'tls') {
      const hello = readClientHello(all);
      if (hello.kind === 'hello') return { kind: 'tls', serverName: hello.serverName };
      if (hello.kind === 'bad') return { kind: 'bad', problem: 'the TLS hello is not well formed' };
    }
    if (guess === 'unsure') {
      passed = Buffer.from(all);
      upstream.write(reader.take(reader.bytes.length));
    } else if (all.length > 0 && !isHeld) {
      isHeld = true;
      reader.setDeadline(headMs);
    }
    if (await reader.more()) continue;
    const isSilent = reader.bytes.length === 0 && !reader.isTimedOut;
    return isSilent
      ? { kind: 'other' }
      : { kind: 'bad', problem: 'what was begun did not come to its end' };
  }
}

function guessProtocol(bytes: Buffer, isStrict: boolean): Guess {
  const [first, second, third, fourth] = bytes;
  if (first === undefined) return 'wait';
  if (isTlsRecord(first) && (second === undefined || second === 3)) return 'tls';
  // The hello of SSL 2, which some servers still take for TLS; it names no host.
  if (first >= 0x80 && first < 0xc0 && isOneOf(third, 1) && isOneOf(fourth, 3))
    return fourth === undefined ? 'wait' : 'tls';
  const text = bytes.toString('latin1', 0, MAX_LINE).replace(BREAKS, '');
  if (text === '') return bytes.length > MAX_BREAKS ? 'breaks' : isStrict ? 'wait' : 'unsure';
  if (HTTP2_PREFACE.test(text)) return isStrict ? 'http' : 'other';
  const end = text.indexOf('\n');
  const line = end < 0 ? text : text.slice(0, end);
  if (VERSION.test(line) && end >= 0) return 'http';
  if (end >= 0 || !TEXT.test(line)) return 'other';
  if (bytes.length >= MAX_LINE) return LIKE_REQUEST.test(text) ? 'http' : 'other';
  return METHOD.test(text) || isStrict ? 'wait' : 'unsure';
}

/** Whether what came behind the first `seen` bytes is only more of the same line. */
function isMoreText(bytes: Buffer, seen: number): boolean {
  const isStart = seen < 16 || bytes.length >= MAX_LINE;
  return !isStart && TEXT.test(bytes.toString('latin1', seen));
}

function isOneOf(byte: number | undefined, wanted: number): boolean {
  return byte === undefined || byte === wanted;
}
