import { concatBytes } from '../../core/bytes.ts';
import { EVENTS_NAME } from './bundle.ts';
import { BundleError } from './bundle-error.ts';

const LINE_FEED = 10;

/** Cuts a stream into lines and keeps no more than one. */
export class LineSplitter {
  readonly #onLine: (line: Uint8Array) => void;
  readonly #maxBytes: number;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
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
    if (this.#keptBytes === 0) return false;
    this.#endLine(new Uint8Array(0));
    return true;
  }

  #endLine(last: Uint8Array): void {
    this.#check(last.length);
    const line = this.#keptBytes === 0 ? last : concatBytes([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lines += 1;
    this.#onLine(line);
  }

  #keep(piece: Uint8Array): void {
    this.#check(piece.length);
    this.#kept.push(piece);
    this.#keptBytes += piece.length;
  }

  #check(more: number): void {
    if (this.#keptBytes + more > this.#maxBytes)
      throw new BundleError('LimitLineBytes', `The line has more than ${this.#maxBytes} bytes`, {
        member: EVENTS_NAME,
        line: this.#lines + 1,
      });
  }
}
