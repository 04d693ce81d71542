import type { ConnectAnswer } from '../egress/doors.ts';
import { parseIp, toIpBytes } from '../policy/ip-address.ts';

/** What the broker says; native/judge.h has the same layout. */
export type BrokerMessage =
  | {
      readonly kind: 'question';
      /** Of the question; of an answer that is kept, how often it was used. */
      readonly id: number;
      readonly address: string;
      readonly port: number;
      readonly isAgain: boolean;
      /** Of a connection that stands, since rules have changed. */
      readonly isReview: boolean;
      /** An answer that was given before is used, and no other is waited for. */
      readonly isKept: boolean;
    }
  /** A program has come to the door on `port`, from its own port. */
  | { readonly kind: 'came'; readonly port: number; readonly ownPort: number };

const QUESTION_BYTES = 40;
const ANSWER_BYTES = 320;
const ENDPOINT_OFFSET = 40;
const ENDPOINT_BYTES = ANSWER_BYTES - ENDPOINT_OFFSET - 1;
const KIND = { question: 1, came: 2, answer: 1, forget: 2 } as const;
const IS_KEPT = 1;
const IS_AGAIN = 2;
const IS_REVIEW = 4;
const MAY_KEEP = 1;
const IS_DOOR = 2;
const MAY_BE_OWN = 4;

/** Messages out of a stream that may cut them anywhere. */
export class BrokerReader {
  #rest: Buffer = Buffer.alloc(0);

  feed(bytes: Buffer): BrokerMessage[] {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    const messages: BrokerMessage[] = [];
    let at = 0;
    for (; at + QUESTION_BYTES <= all.length; at += QUESTION_BYTES)
      messages.push(readMessage(all, at));
    this.#rest = Buffer.from(all.subarray(at));
    return messages;
  }
}

function readMessage(bytes: Buffer, at: number): BrokerMessage {
  const port = bytes.readUInt16LE(at + 12);
  if (bytes.readUInt32LE(at) === KIND.came)
    return { kind: 'came', port, ownPort: bytes.readUInt16LE(at + 14) };
  const flags = bytes.readUInt32LE(at + 36);
  const raw = bytes.subarray(at + 20, at + 36);
  return {
    kind: 'question',
    id: bytes.readUInt32LE(at + 4),
    address: bytes.readUInt32LE(at + 16) === 4 ? raw.subarray(0, 4).join('.') : formatGroups(raw),
    port,
    isAgain: (flags & IS_AGAIN) !== 0,
    isReview: (flags & IS_REVIEW) !== 0,
    isKept: (flags & IS_KEPT) !== 0,
  };
}

function formatGroups(raw: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => raw.readUInt16BE(at * 2).toString(16)).join(':');
}

export interface AnswerInput {
  readonly id: number;
  readonly answer: ConnectAnswer;
  /** Where the doors really are. */
  readonly doorPorts: Readonly<Record<'proxy' | 'dns', number>>;
}

const DOOR_ADDRESS = '127.0.0.1';
const DOOR_NAMES = { proxy: 'tcp:127.0.0.1:3128', dns: 'tcp:127.0.0.53:53' } as const;

export function writeAnswer({ id, answer, doorPorts }: AnswerInput): Buffer {
  const bytes = Buffer.alloc(ANSWER_BYTES);
  bytes.writeUInt32LE(KIND.answer, 0);
  bytes.writeUInt32LE(id, 4);
  if (answer.kind === 'refused') bytes.writeInt32LE(toErrno(answer.errno), 8);
  else if (answer.kind === 'door') {
    bytes.writeUInt32LE(MAY_KEEP | IS_DOOR, 12);
    writePlace(bytes, DOOR_ADDRESS, doorPorts[answer.door]);
  } else {
    const flags = (answer.canKeep ? MAY_KEEP : 0) | (answer.mayBeOwn ? MAY_BE_OWN : 0);
    bytes.writeUInt32LE(flags, 12);
    writePlace(bytes, answer.address, answer.port);
  }
  const endpoint = answer.kind === 'door' ? DOOR_NAMES[answer.door] : (answer.endpoint ?? '');
  bytes.write(endpoint.slice(0, ENDPOINT_BYTES), ENDPOINT_OFFSET, 'latin1');
  return bytes;
}

/** Everything that was answered before is to be asked again. */
export function writeForget(): Buffer {
  const bytes = Buffer.alloc(ANSWER_BYTES);
  bytes.writeUInt32LE(KIND.forget, 0);
  return bytes;
}

function writePlace(bytes: Buffer, text: string, port: number): void {
  const address = parseIp(text);
  if (!address) throw new Error(`${text} is no address to connect to`);
  bytes.writeUInt32LE(address.bits === 32 ? 4 : 6, 16);
  bytes.writeUInt16LE(port, 20);
  bytes.set(toIpBytes(address), 24);
}

function toErrno(name: string): number {
  const { errno } = process.getBuiltinModule('node:os').constants;
  return (errno as Readonly<Record<string, number>>)[name] ?? errno.EACCES;
}
