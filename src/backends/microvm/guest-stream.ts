import { Duplex } from 'node:stream';
import { breach, CHUNK_BYTES, WINDOW_BYTES } from './frames.ts';
import type { GuestLink } from './guest-link.ts';

const BUFFER_BYTES = 64 * 1024;

/** One connection that a program in the guest has made to the door, as a socket of the host would be. */
export class GuestStream extends Duplex {
  readonly #link: GuestLink;
  readonly #id: number;
  readonly #forget: () => void;
  #credit = WINDOW_BYTES;
  #unread = 0;
  #blocked: (() => void) | undefined;
  #hasEndedIn = false;
  #hasEndedOut = false;
  #isCut = false;

  constructor(options: { link: GuestLink; id: number; forget: () => void }) {
    super({ allowHalfOpen: true, highWaterMark: BUFFER_BYTES });
    this.#link = options.link;
    this.#id = options.id;
    this.#forget = options.forget;
  }

  /** As sockets have it; there is no delay to switch off. */
  setNoDelay(): this {
    return this;
  }

  /** As sockets have it: says what is left to say, and closes. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy()).end();
  }

  /** As sockets have it: the other side sees that it was cut. */
  resetAndDestroy(): this {
    return this.destroy();
  }

  hearData(data: Buffer): void {
    this.#unread += data.length;
    if (this.#unread > WINDOW_BYTES + BUFFER_BYTES || this.#hasEndedIn)
      throw breach('data beyond what was granted');
    if (this.push(data)) this.#grant();
  }

  hearEnd(): void {
    this.#hasEndedIn = true;
    this.push(null);
  }

  hearReset(): void {
    this.#isCut = true;
    this.destroy(
      Object.assign(new Error('The program has cut the connection'), { code: 'ECONNRESET' }),
    );
  }

  hearCredit(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > WINDOW_BYTES) throw breach('more taken than was sent');
    const blocked = this.#blocked;
    this.#blocked = undefined;
    blocked?.();
  }

  override _read(): void {
    this.#grant();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const size = Math.min(chunk.length, this.#credit, CHUNK_BYTES);
    if (size > 0) {
      this.#credit -= size;
      this.#link.send('netData', this.#id, chunk.subarray(0, size));
    }
    const rest = chunk.subarray(size);
    if (rest.length === 0) return done();
    if (this.#credit > 0) return this._write(rest, _encoding, done);
    this.#blocked = () => this._write(rest, _encoding, done);
  }

  override _final(done: () => void): void {
    this.#hasEndedOut = true;
    this.#link.send('netEnd', this.#id);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isOver = this.#hasEndedIn && this.#hasEndedOut;
    if (!isOver && !this.#isCut) this.#link.send('netReset', this.#id);
    this.#forget();
    done(error);
  }

  #grant(): void {
    if (this.#unread === 0 || this.#hasEndedIn) return;
    this.#link.sendNumber('credit', this.#id, this.#unread);
    this.#unread = 0;
  }
}
