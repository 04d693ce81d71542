/** A message and bytes that belong to it: their lengths, JSON, bytes. */
export interface Frame {
  readonly message: unknown;
  readonly bytes: Uint8Array;
}

/** More than any message may take; bytes come in pieces of at most `PIECE_BYTES`. */
const MAX_MESSAGE_BYTES = 16 << 20;
export const PIECE_BYTES = 1 << 20;
const HEAD_BYTES = 8;

export function encodeFrame(message: unknown, bytes: Uint8Array = new Uint8Array(0)): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, text, bytes]);
}

/** Takes bytes as they come and gives whole frames. Throws when they cannot be frames. */
export class FrameReader {
  private chunks: Uint8Array[] = [];
  private heldBytes = 0;

  *feed(chunk: Uint8Array): Generator<Frame> {
    this.chunks.push(chunk);
    this.heldBytes += chunk.length;
    while (this.heldBytes >= HEAD_BYTES) {
      const head = this.peek(HEAD_BYTES);
      const textBytes = head.readUInt32LE(0);
      const restBytes = head.readUInt32LE(4);
      if (textBytes > MAX_MESSAGE_BYTES || restBytes > PIECE_BYTES)
        throw new Error('A frame is larger than any can be');
      const total = HEAD_BYTES + textBytes + restBytes;
      if (this.heldBytes < total) return;
      const whole = this.take(total);
      const text = whole.toString('utf8', HEAD_BYTES, HEAD_BYTES + textBytes);
      yield { message: JSON.parse(text), bytes: whole.subarray(HEAD_BYTES + textBytes) };
    }
  }

  private peek(count: number): Buffer {
    const [first] = this.chunks;
    if (!first || first.length < count) this.chunks = [Buffer.concat(this.chunks)];
    const [whole = new Uint8Array(0)] = this.chunks;
    return Buffer.from(whole.buffer, whole.byteOffset, count);
  }

  private take(count: number): Buffer {
    const whole = this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks);
    const bytes = Buffer.from(whole ?? []);
    this.heldBytes -= count;
    this.chunks = this.heldBytes > 0 ? [bytes.subarray(count)] : [];
    return bytes.subarray(0, count);
  }
}
