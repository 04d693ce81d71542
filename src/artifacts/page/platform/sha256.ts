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

export class Sha256 {
  readonly #state = CONSTANTS.start.slice();
  readonly #schedule = new Int32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  readonly #encoder = new TextEncoder();
  #restLength = 0;
  #totalBytes = 0;

  update(content: string | Uint8Array): this {
    const bytes = typeof content === 'string' ? this.#encoder.encode(content) : content;
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
    this.#rest.set(bytes.subarray(at));
    this.#restLength = bytes.length - at;
    return this;
  }

  /** In lower-case hex. Nothing may be added afterwards. */
  digest(_encoding: 'hex'): string {
    const total = this.#totalBytes;
    const padding = new Uint8Array(this.#restLength < 56 ? BLOCK : 2 * BLOCK);
    padding.set(this.#rest.subarray(0, this.#restLength));
    padding[this.#restLength] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(total / 2 ** 29));
    view.setUint32(padding.length - 4, (total * 8) % 2 ** 32);
    for (let at = 0; at < padding.length; at += BLOCK) this.#addBlock(padding, at);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
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

function compress({ state, w, bytes, from }: Block): void {
  const { rounds } = CONSTANTS;
  const at = (words: Int32Array, index: number): number => words[index] as number;
  for (let i = 0, j = from; i < 16; i += 1, j += 4)
    w[i] =
      ((bytes[j] as number) << 24) |
      ((bytes[j + 1] as number) << 16) |
      ((bytes[j + 2] as number) << 8) |
      (bytes[j + 3] as number);
  for (let i = 16; i < 64; i += 1) {
    const x = at(w, i - 15);
    const y = at(w, i - 2);
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (at(w, i - 16) + s0 + at(w, i - 7) + s1) | 0;
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + at(rounds, i) + at(w, i)) | 0;
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
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
}
