import { EVENTS_NAME } from './bundle.ts';
import { BundleError } from './bundle-error.ts';
import { ByteBuffer } from './byte-buffer.ts';

const LINE_FEED = 10;

/** Cuts a stream into lines and keeps no more than one. */
export class LineSplitter {
  readonly #onLine: (line: Uint8Array) => void;
  readonly #maxBytes: number;
  readonly #kept = new ByteBuffer();
  #lines = 0;

  constructor(onLine: (line: Uint8Array) => void, maxBytes: number) {
    this.#onLine = onLine;
    this.#maxBytes = maxBytes;
  }

  push(piece: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.#endLine(piece.subarray(start, end));
      start = end + 1;
    }
    if (start < piece.length) this.#keep(piece.subarray(start));
  }

  /** Returns whether there was a last line without a line feed. */
  finish(): boolean {
    if (this.#kept.length === 0) return false;
    this.#endLine(new Uint8Array(0));
    return true;
  }

  #endLine(last: Uint8Array): void {
    this.#check(last.length);
    this.#lines += 1;
    if (this.#kept.length === 0) this.#onLine(last);
    else {
      this.#kept.append(last);
      this.#onLine(this.#kept.take());
    }
  }

  #keep(piece: Uint8Array): void {
    this.#check(piece.length);
    this.#kept.append(piece);
  }

  #check(more: number): void {
    if (this.#kept.length + more > this.#maxBytes)
      throw new BundleError('LimitLineBytes', `The line has more than ${this.#maxBytes} bytes`, {
        member: EVENTS_NAME,
        line: this.#lines + 1,
      });
  }
}
