/** Prime numbers of 32 bits, odd, far apart. */
const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;
const MAX_LOAD = 0.7;

/**
 * Remembers texts by 52 bits of each: a million takes 16 MiB, where the texts would take hundreds. Two texts that share
 * them are taken for one, which at a million happens once in ten thousand bundles.
 */
export class FingerprintSet {
  #slots = new Float64Array(64);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    const value = fingerprintOf(text);
    return this.#slots[this.#find(value)] === value;
  }

  /** Whether it was not there before. */
  add(text: string): boolean {
    const value = fingerprintOf(text);
    const slot = this.#find(value);
    if (this.#slots[slot] === value) return false;
    this.#slots[slot] = value;
    this.#size++;
    if (this.#size > this.#slots.length * MAX_LOAD) this.#grow();
    return true;
  }

  /** The slot that holds a value, or the free one where it would go. */
  #find(value: number): number {
    const mask = this.#slots.length - 1;
    let slot = value % this.#slots.length;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== value) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    for (const value of old) if (value !== 0) this.#slots[this.#find(value)] = value;
  }
}

/** Never 0, which marks a free slot. */
function fingerprintOf(text: string): number {
  let low = 0x2545f491;
  let high = 0x6c8e9cf5;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, FIRST);
    high = Math.imul(high ^ unit, SECOND);
    low ^= low >>> 15;
    high ^= high >>> 13;
  }
  low = Math.imul(low ^ (high >>> 16), SECOND);
  high = Math.imul(high ^ (low >>> 15), FIRST);
  return (high >>> 12) * 2 ** 32 + (low >>> 0) || 1;
}
