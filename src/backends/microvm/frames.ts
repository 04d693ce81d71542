import { SandboxError } from '../sandbox-error.ts';

/** What the host sends; native/guest/agent.h has the same numbers. */
export const REQUESTS = {
  setup: 1,
  exec: 2,
  stdin: 3,
  stdinEnd: 4,
  signal: 5,
  kill: 6,
  files: 7,
  credit: 8,
  netData: 9,
  netEnd: 10,
  netReset: 11,
} as const;
export type RequestType = keyof typeof REQUESTS;

/** What the guest sends, with the least and the most that may be in it. */
const ANSWERS = {
  128: { type: 'hello', minBytes: 4, maxBytes: 4 + 1024 },
  129: { type: 'done', minBytes: 4, maxBytes: 4 + 128 * 1024 },
  130: { type: 'stdout', minBytes: 1, maxBytes: 64 * 1024 },
  131: { type: 'stderr', minBytes: 1, maxBytes: 64 * 1024 },
  132: { type: 'exit', minBytes: 64, maxBytes: 64 },
  133: { type: 'credit', minBytes: 4, maxBytes: 4 },
  134: { type: 'netOpen', minBytes: 0, maxBytes: 0 },
  135: { type: 'netData', minBytes: 1, maxBytes: 64 * 1024 },
  136: { type: 'netEnd', minBytes: 0, maxBytes: 0 },
  137: { type: 'netReset', minBytes: 0, maxBytes: 0 },
} as const;
export type AnswerType = (typeof ANSWERS)[keyof typeof ANSWERS]['type'];

export interface Frame {
  readonly type: AnswerType;
  readonly id: number;
  readonly payload: Buffer;
}

export const MAX_REQUEST_BYTES = 256 * 1024;
/** Bytes of a stream in one frame. */
export const CHUNK_BYTES = 64 * 1024;
/** Bytes of a stream that may be on their way. */
export const WINDOW_BYTES = 256 * 1024;
/** Numbers from here on are given by the guest, for its connections. */
export const FIRST_STREAM = 0x8000_0000;
const HEADER_BYTES = 12;

export function encodeFrame(type: RequestType, id: number, payload: Uint8Array): Buffer {
  if (payload.length > MAX_REQUEST_BYTES)
    throw new SandboxError('input_invalid', `${payload.length} bytes do not fit into a frame`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(REQUESTS[type], 0);
  frame.writeUInt32LE(id, 4);
  frame.writeUInt32LE(payload.length, 8);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** The guest may be in the hands of the code in it: what it says is taken only as far as it follows the protocol. */
export function breach(what: string): SandboxError {
  return new SandboxError('engine_failed', `The guest broke the protocol: ${what}`);
}

interface Header {
  readonly type: AnswerType;
  readonly id: number;
  readonly length: number;
}

function readHeader(bytes: Buffer): Header {
  const number = bytes.readUInt32LE(0);
  const known = ANSWERS[number as keyof typeof ANSWERS];
  // An object has more names than its own.
  if (!Object.hasOwn(ANSWERS, number) || !known) throw breach(`a frame of the type ${number}`);
  const length = bytes.readUInt32LE(8);
  if (length < known.minBytes || length > known.maxBytes)
    throw breach(`a frame ${known.type} of ${length} bytes`);
  return { type: known.type, id: bytes.readUInt32LE(4), length };
}

/** Cuts a stream of bytes into frames. Never holds more than one frame. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #current: Header | undefined;
  #payload = Buffer.alloc(0);
  #payloadBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** Throws when the stream is not what it should be; then nothing after it can be told apart. */
  feed(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 || this.#isComplete()) {
      rest = this.#current ? this.#takePayload(rest, this.#current) : this.#takeHeader(rest);
    }
  }

  #isComplete(): boolean {
    return this.#current?.length === this.#payloadBytes;
  }

  #takeHeader(chunk: Buffer): Buffer {
    const taken = chunk.copy(this.#header, this.#headerBytes);
    this.#headerBytes += taken;
    if (this.#headerBytes === HEADER_BYTES) {
      this.#current = readHeader(this.#header);
      this.#payload = Buffer.alloc(this.#current.length);
      this.#payloadBytes = 0;
      this.#headerBytes = 0;
    }
    return chunk.subarray(taken);
  }

  #takePayload(chunk: Buffer, { type, id }: Header): Buffer {
    const taken = chunk.copy(this.#payload, this.#payloadBytes);
    this.#payloadBytes += taken;
    if (this.#isComplete()) {
      this.#current = undefined;
      this.#onFrame({ type, id, payload: this.#payload });
    }
    return chunk.subarray(taken);
  }
}
