/*
 * SHA-256 (FIPS 180-4). The page has no other: what browsers offer works only on secure origins, at once for the whole
 * text and not in order.
 */

const BLOCK = 64;

/** The first 32 bits of the fractional parts of cube roots (rounds) and square roots (start) of the first primes. */
function makeConstants(): { rounds: Int32Array; start: Int32Array } {
  const rounds = new Int32Array(64);
  const start = new Int32Array(8);
  let found = 0;
  for (let candidate = 2; found < 64; candidate += 1) {
    if (hasFactor(candidate)) continue;
    rounds[found] = fractionBits(Math.cbrt(candidate));
    if (found < 8) start[found] = fractionBits(Math.sqrt(candidate));
    found += 1;
  }
  return { rounds, start };
}

function hasFactor(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor += 1)
    if (number % factor === 0) return true;
  return false;
}

function fractionBits(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
}

const CONSTANTS = makeConstants();

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const ENCODER = new TextEncoder();

export class Sha256 {
  readonly #state = CONSTANTS.start.slice();
  readonly #schedule = new Int32Array(64);
  /** What is left of the last block, with room for the padding. */
  readonly #rest = new Uint8Array(2 * BLOCK);
  #restLength = 0;
  #totalBytes = 0;

  update(content: string | Uint8Array): this {
    const bytes = typeof content === 'string' ? ENCODER.encode(content) : content;
    this.#totalBytes += bytes.length;
    let at = 0;
    if (this.#restLength > 0) {
      at = Math.min(BLOCK - this.#restLength, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restLength);
      this.#restLength += at;
      if (this.#restLength < BLOCK) return this;
      this.#addBlock(this.#rest, 0);
      this.#restLength = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#addBlock(bytes, at);
    if (at < bytes.length) this.#rest.set(bytes.subarray(at));
    this.#restLength = bytes.length - at;
    return this;
  }

  /** In lower-case hex; then it is as new. */
  digest(_encoding: 'hex'): string {
    const rest = this.#rest;
    const total = this.#totalBytes;
    const end = this.#restLength < 56 ? BLOCK : 2 * BLOCK;
    rest.fill(0, this.#restLength, end);
    rest[this.#restLength] = 0x80;
    // The length in bits: numbers are exact beyond any archive.
    writeWord(rest, end - 8, Math.floor(total / 2 ** 29));
    writeWord(rest, end - 4, (total * 8) % 2 ** 32);
    for (let at = 0; at < end; at += BLOCK) this.#addBlock(rest, at);
    let hex = '';
    for (const word of this.#state)
      hex += byteHex(word >>> 24) + byteHex(word >>> 16) + byteHex(word >>> 8) + byteHex(word);
    this.#state.set(CONSTANTS.start);
    this.#restLength = 0;
    this.#totalBytes = 0;
    return hex;
  }

  /** The hot part: plain locals, and no look-up that could miss. */
  #addBlock(bytes: Uint8Array, from: number): void {
    compress({ state: this.#state, w: this.#schedule, bytes, from });
  }
}

interface Block {
  readonly state: Int32Array;
  readonly w: Int32Array;
  readonly bytes: Uint8Array;
  readonly from: number;
}

function byteHex(byte: number): string {
  return HEX[byte & 0xff] as string;
}

function writeWord(bytes: Uint8Array, from: number, word: number): void {
  for (let i = 0; i < 4; i += 1) bytes[from + i] = word >>> (24 - 8 * i);
}

function compress({ state, w, bytes, from }: Block): void {
  const { rounds } = CONSTANTS;
  for (let i = 0, j = from; i < 16; i += 1, j += 4)
    w[i] =
      ((bytes[j] as number) << 24) |
      ((bytes[j + 1] as number) << 16) |
      ((bytes[j + 2] as number) << 8) |
      (bytes[j + 3] as number);
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15] as number;
    const y = w[i - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + (rounds[i] as number) + (w[i] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}
