import { MAX_QUERY_BYTES, type QueryHeader } from './query.ts';
import { CLASS_IN, RCODE, type RcodeName, TYPE } from './record-types.ts';

/** One record of an answer; its name is the one that was asked for. */
export interface AnswerRecord {
  readonly type: number;
  readonly ttlSeconds: number;
  readonly data: Buffer;
}

const ANSWER_FLAGS = 0x8080; // QR, and RA, without which some clients look elsewhere
const HEADER_BYTES = 12;
const POINTER_TO_QUESTION = 0xc00c;

export function writeAnswer(
  header: QueryHeader,
  rcode: RcodeName,
  records: readonly AnswerRecord[] = [],
): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  const code = RCODE[rcode];
  head.writeUInt16BE(header.id, 0);
  head.writeUInt16BE(ANSWER_FLAGS | header.flags | (code & 0x000f), 2);
  head.writeUInt16BE(header.question.length > 0 ? 1 : 0, 4);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(header.hasEdns ? 1 : 0, 10);
  const parts = [head, header.question, ...records.flatMap(writeRecord)];
  return Buffer.concat(header.hasEdns ? [...parts, writeOpt(code >> 4)] : parts);
}

function writeRecord({ type, ttlSeconds, data }: AnswerRecord): Buffer[] {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(POINTER_TO_QUESTION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(CLASS_IN, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return [head, data];
}

function writeOpt(extendedRcode: number): Buffer {
  const opt = Buffer.alloc(11);
  opt.writeUInt16BE(TYPE.OPT, 1);
  opt.writeUInt16BE(MAX_QUERY_BYTES, 3);
  opt.writeUInt8(extendedRcode, 5);
  return opt;
}

/** A name that parseHost() gave, as it stands in a message. */
export function writeName(name: string): Buffer {
  const parts = name.split('.').flatMap((label) => {
    return [Buffer.from([label.length]), Buffer.from(label, 'latin1')];
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}
