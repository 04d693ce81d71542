import { type RcodeName, TYPE } from './record-types.ts';

/** What every answer repeats of its question. */
export interface QueryHeader {
  readonly id: number;
  /** The bits that a client finds again in the answer: RD and CD. */
  readonly flags: number;
  /** As it came, letter case included, since clients compare it; empty when it could not be read. */
  readonly question: Buffer;
  /** Speaks EDNS (RFC 6891). */
  readonly hasEdns: boolean;
}

export interface Query extends QueryHeader {
  /** In the form of zone files, without the last dot: odd bytes are `\ddd`, so that no name looks like another. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export type ReadQuery =
  | { readonly kind: 'query'; readonly query: Query }
  /** To be told to the client. */
  | { readonly kind: 'bad'; readonly header: QueryHeader; readonly rcode: RcodeName }
  /** Not worth an answer: too short, or an answer itself, which could go back and forth for ever. */
  | { readonly kind: 'noise' };

/** What fits into one packet everywhere; no honest question comes near. */
export const MAX_QUERY_BYTES = 1232;

const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

const FLAG = { QR: 0x8000, TC: 0x0200, RD: 0x0100, Z: 0x0040, CD: 0x0010 } as const;
const OPCODE = 0x7800;
const RCODE_BITS = 0x000f;
const NO_BYTES = Buffer.alloc(0);

/**
 * One question and nothing else but, perhaps, an OPT record: whatever some other reader might understand in another way is
 * refused. There is no pointer in a question that stands at the beginning, so none is followed.
 */
export function readQuery(bytes: Buffer): ReadQuery {
  if (bytes.length < HEADER_BYTES) return { kind: 'noise' };
  const flags = bytes.readUInt16BE(2);
  if (flags & FLAG.QR) return { kind: 'noise' };
  const kept = flags & (FLAG.RD | FLAG.CD);
  const header = { id: bytes.readUInt16BE(0), flags: kept, question: NO_BYTES, hasEdns: false };
  const refuse = (rcode: RcodeName): ReadQuery => ({ kind: 'bad', header, rcode });
  if (flags & OPCODE) return refuse('NOTIMP');
  if (bytes.length > MAX_QUERY_BYTES || flags & (FLAG.TC | FLAG.Z | RCODE_BITS))
    return refuse('FORMERR');
  const [questions, answers, authorities, additional] = [4, 6, 8, 10].map((at) =>
    bytes.readUInt16BE(at),
  );
  if (questions !== 1 || answers !== 0 || authorities !== 0) return refuse('FORMERR');
  const name = readName(bytes, HEADER_BYTES);
  if (!name || name.end + 4 > bytes.length) return refuse('FORMERR');
  const end = name.end + 4;
  const extra = readOpt(bytes, end, additional ?? 0);
  if (extra === 'bad') return refuse('FORMERR');
  const question = Buffer.from(bytes.subarray(HEADER_BYTES, end));
  const hasEdns = extra !== 'none';
  if (extra === 'version')
    return { kind: 'bad', header: { ...header, question, hasEdns }, rcode: 'BADVERS' };
  return {
    kind: 'query',
    query: {
      ...header,
      question,
      hasEdns,
      name: name.text,
      type: bytes.readUInt16BE(name.end),
      class: bytes.readUInt16BE(name.end + 2),
    },
  };
}

/** Behind the question there is nothing, or one OPT record that ends with the message. */
function readOpt(bytes: Buffer, at: number, count: number): 'none' | 'there' | 'version' | 'bad' {
  if (count === 0) return at === bytes.length ? 'none' : 'bad';
  if (count > 1 || at + 11 > bytes.length) return 'bad';
  const isOpt = bytes[at] === 0 && bytes.readUInt16BE(at + 1) === TYPE.OPT;
  if (!isOpt || at + 11 + bytes.readUInt16BE(at + 9) !== bytes.length) return 'bad';
  return bytes[at + 6] === 0 ? 'there' : 'version';
}

function readName(
  bytes: Buffer,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  const labels: string[] = [];
  let at = start;
  for (;;) {
    const length = bytes[at];
    // The two highest bits would make it a pointer, or something that was never agreed on.
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    at += 1;
    if (length === 0) return { text: labels.join('.'), end: at };
    if (at + length >= bytes.length || at + length - start >= MAX_NAME_BYTES) return undefined;
    labels.push(formatLabel(bytes.subarray(at, at + length)));
    at += length;
  }
}

function formatLabel(label: Buffer): string {
  const text = label.toString('latin1');
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[^!-~]|[.\\]/g, (char) => {
    return `\\${String(char.charCodeAt(0)).padStart(3, '0')}`;
  });
}
