import { SandboxError } from '../sandbox-error.ts';

/** Headers of what goes over the connection of a sandbox; the letters of native/serve.h. */
export const TO_HOLDER = {
  setup: 'S',
  boundary: 'B',
  run: 'R',
  stdin: 'I',
  stdinEnd: 'E',
  signal: 'K',
  kill: 'Z',
  file: 'F',
  clock: 'C',
} as const;

export const FROM_HOLDER = {
  ready: 'r',
  failed: 'x',
  stdout: 'O',
  stderr: 'X',
  taken: 'A',
  report: 'P',
  done: 'D',
  file: 'f',
} as const;

const HEADER_BYTES = 12;
/** More than the longest listing of a workspace takes. */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

export function makeFrame(kind: string, call: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(kind.charCodeAt(0), 0);
  frame.writeUInt32LE(call, 4);
  frame.writeUInt32LE(payload.length, 8);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export interface Frame {
  readonly kind: string;
  readonly call: number;
  readonly payload: Buffer;
}

/** What no holder says: the sandbox cannot be relied on any more. */
export function breach(what: string): SandboxError {
  return new SandboxError(
    'engine_failed',
    `The holder of the sandbox cannot be understood: ${what}`,
  );
}

/** Puts together what the socket has cut. Throws when it cannot be frames. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;
  #wanted = HEADER_BYTES;

  *feed(data: Buffer): Generator<Frame> {
    this.#pieces.push(data);
    this.#length += data.length;
    while (this.#length >= this.#wanted) {
      const all =
        this.#pieces.length === 1 ? (this.#pieces[0] ?? data) : Buffer.concat(this.#pieces);
      const length = all.readUInt32LE(8);
      if (length > MAX_PAYLOAD_BYTES) throw breach(`a frame of ${length} bytes`);
      const end = HEADER_BYTES + length;
      this.#wanted = end;
      this.#pieces = [all];
      if (all.length < end) return;
      this.#pieces = [all.subarray(end)];
      this.#length = all.length - end;
      this.#wanted = HEADER_BYTES;
      yield {
        kind: String.fromCharCode(all[0] ?? 0),
        call: all.readUInt32LE(4),
        payload: all.subarray(HEADER_BYTES, end),
      };
    }
  }
}

export type WorkspaceKind = 'own' | 'ro' | 'rw';
const WORKSPACE_KINDS: readonly WorkspaceKind[] = ['own', 'ro', 'rw'];

export interface SetUp {
  readonly workspace: { readonly kind: WorkspaceKind; readonly host: string };
  readonly workBytes: number;
  readonly workInodes: number;
  readonly tmpBytes: number;
  readonly tmpInodes: number;
}

export function encodeSetUp(setUp: SetUp): Buffer {
  const head = Buffer.alloc(40);
  const sizes = [setUp.workBytes, setUp.workInodes, setUp.tmpBytes, setUp.tmpInodes];
  for (const [index, value] of sizes.entries()) head.writeBigUInt64LE(BigInt(value), index * 8);
  head.writeUInt32LE(WORKSPACE_KINDS.indexOf(setUp.workspace.kind), 32);
  head.writeUInt32LE(1, 36); // terminals
  return Buffer.concat([head, Buffer.from(`${setUp.workspace.host}\0`)]);
}
