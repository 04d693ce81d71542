/* Frames to and from the steward: four bytes of length, one of type, four of channel; see native/steward/steward.h. */

export const TO_STEWARD = {
  start: 1,
  stdin: 2,
  stdinEnd: 3,
  signal: 4,
  kill: 5,
  killAll: 6,
  filter: 7,
  read: 10,
  write: 11,
  writeData: 12,
  writeEnd: 13,
  mkdir: 14,
  readdir: 15,
  stat: 16,
  rm: 17,
  rename: 18,
  tree: 19,
  symlink: 20,
  digest: 21,
  measure: 22,
  listen: 30,
  doorData: 31,
  doorEnd: 32,
  doorReset: 33,
  doorWindow: 34,
} as const;

export const FROM_STEWARD = {
  hello: 1,
  stdout: 2,
  stderr: 3,
  exit: 4,
  window: 5,
  ok: 10,
  error: 11,
  data: 12,
  doorOpen: 30,
  doorData: 31,
  doorEnd: 32,
  doorReset: 33,
  doorWindow: 34,
} as const;

export interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

/** Before the first frame, so that bytes which an engine puts in front do no harm. */
export const MAGIC = Buffer.from('assay-steward-1\n');
export const MAX_FRAME_BYTES = 64 * 1024;
const HEADER_BYTES = 9;
/** What is inside could say anything; more than this is never right. */
const MAX_PAYLOAD_BYTES = 128 * 1024;

export function encodeFrame(type: number, channel: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32LE(channel, 5);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export function encodeU32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Numbers, then texts that each end with a 0. */
export function encodeFields(
  u64s: readonly number[],
  u32s: readonly number[],
  texts: readonly string[],
): Buffer {
  const head = Buffer.allocUnsafe(u64s.length * 8 + u32s.length * 4);
  u64s.forEach((value, index) => head.writeBigUInt64LE(BigInt(value), index * 8));
  u32s.forEach((value, index) => head.writeUInt32LE(value, u64s.length * 8 + index * 4));
  return Buffer.concat([head, ...texts.map((text) => Buffer.from(`${text}\0`))]);
}

function readLength(data: Buffer, at: number): number {
  const length = data.readUInt32LE(at);
  if (length > MAX_PAYLOAD_BYTES) throw new Error('a frame is too long');
  return length;
}

/** Puts frames together from pieces of any size. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** The frames that are whole by now; throws when what comes is no frame. */
  add(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted()) return [];
    const data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const frames: Frame[] = [];
    let at = 0;
    while (data.length - at >= HEADER_BYTES) {
      const length = readLength(data, at);
      const end = at + HEADER_BYTES + length;
      if (end > data.length) break;
      const payload = data.subarray(at + HEADER_BYTES, end);
      frames.push({ type: data.readUInt8(at + 4), channel: data.readUInt32LE(at + 5), payload });
      at = end;
    }
    this.#chunks = at === data.length ? [] : [data.subarray(at)];
    this.#bytes = data.length - at;
    return frames;
  }

  /** How much there has to be before it is worth looking: large frames come in many pieces. */
  #wanted(): number {
    const first = this.#chunks[0];
    if (!first || first.length < HEADER_BYTES) return HEADER_BYTES;
    return HEADER_BYTES + readLength(first, 0);
  }
}
