import { CHUNK_BYTES, WINDOW_BYTES } from './frames.ts';

interface Waiting {
  data: Uint8Array;
  readonly done: () => void;
}

/** Input of a program, no faster than the program takes it. */
export class StdinQueue {
  readonly #send: (chunk: Uint8Array) => void;
  readonly #sendEnd: () => void;
  readonly #waiting: Waiting[] = [];
  #credit = WINDOW_BYTES;
  #hasEnd = false;
  #isOver = false;

  constructor(send: (chunk: Uint8Array) => void, sendEnd: () => void) {
    this.#send = send;
    this.#sendEnd = sendEnd;
  }

  /** Resolves when it is on its way, or when nobody will read it any more. */
  async write(data: Uint8Array): Promise<void> {
    if (this.#isOver || data.length === 0) return;
    await new Promise<void>((done) => {
      // A copy: the caller may use its own again.
      this.#waiting.push({ data: Uint8Array.from(data), done });
      this.#pump();
    });
  }

  end(): void {
    if (this.#hasEnd) return;
    this.#hasEnd = true;
    this.#pump();
  }

  /** False when more is granted than was ever sent. */
  grant(bytes: number): boolean {
    this.#credit += bytes;
    if (this.#credit > WINDOW_BYTES) return false;
    this.#pump();
    return true;
  }

  /** The program has ended. */
  stop(): void {
    this.#isOver = true;
    for (const { done } of this.#waiting.splice(0)) done();
  }

  #pump(): void {
    for (let [first] = this.#waiting; first && this.#credit > 0; [first] = this.#waiting) {
      const chunk = first.data.subarray(0, Math.min(CHUNK_BYTES, this.#credit));
      this.#credit -= chunk.length;
      first.data = first.data.subarray(chunk.length);
      this.#send(chunk);
      if (first.data.length > 0) continue;
      this.#waiting.shift();
      first.done();
    }
    if (this.#waiting.length > 0 || !this.#hasEnd || this.#isOver) return;
    this.#isOver = true;
    this.#sendEnd();
  }
}
