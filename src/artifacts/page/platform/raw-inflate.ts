/*
 * Decompression by RFC 1951. What browsers offer does not say where a stream ends, and so could not tell what follows.
 */

const WINDOW = 32_768;
const OUTPUT = 262_144;
const MAX_BITS = 15;

const LENGTH_BASE = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
  163, 195, 227, 258,
];
const LENGTH_BITS = [
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
  3073, 4097, 6145, 8193, 12_289, 16_385, 24_577,
];
const DISTANCE_BITS = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
/** Section 3.2.7: the order in which lengths of code lengths come. */
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Where the input ends too early. */
export class InflateEnd extends Error {}

/** By every possible next 15 bits, lowest first: the symbol and, in the low 4 bits, the length of its code. */
type Table = Uint16Array;

function makeTable(lengths: ArrayLike<number>, isComplete: boolean): Table {
  const counts = new Uint16Array(MAX_BITS + 1);
  for (let i = 0; i < lengths.length; i += 1) bump(counts, lengths[i] as number);
  counts[0] = 0;
  const next = new Uint32Array(MAX_BITS + 2);
  let left = 1;
  for (let bits = 1; bits <= MAX_BITS; bits += 1) {
    left = left * 2 - (counts[bits] as number);
    if (left < 0) throw new Error('a code with too many words');
    next[bits + 1] = ((next[bits] as number) + (counts[bits] as number)) << 1;
  }
  // As zlib takes it: no word at all, which fails once one is needed, or one of one bit, as for a single distance.
  const longest = counts.findLastIndex((count) => count > 0);
  if (left > 0 && longest !== -1 && (isComplete || longest !== 1))
    throw new Error('a code with too few words');
  const table = new Uint16Array(1 << MAX_BITS);
  for (let symbol = 0; symbol < lengths.length; symbol += 1) {
    const bits = lengths[symbol] as number;
    if (bits === 0) continue;
    let code = next[bits] as number;
    next[bits] = code + 1;
    let reversed = 0;
    for (let i = 0; i < bits; i += 1) {
      reversed = (reversed << 1) | (code & 1);
      code >>= 1;
    }
    for (let at = reversed; at < table.length; at += 1 << bits) table[at] = (symbol << 4) | bits;
  }
  return table;
}

function bump(counts: Uint16Array, at: number): void {
  counts[at] = (counts[at] as number) + 1;
}

function makeFixedTables(): { literals: Table; distances: Table } {
  const lengths = Uint8Array.from({ length: 288 }, (_, symbol) => {
    if (symbol < 144) return 8;
    if (symbol < 256) return 9;
    return symbol < 280 ? 7 : 8;
  });
  return {
    literals: makeTable(lengths, true),
    distances: makeTable(new Uint8Array(32).fill(5), true),
  };
}

/** One stream in `bytes` from `at`. */
export class RawInflater {
  readonly #bytes: Uint8Array;
  /** The window, and what has been made since it was handed out. */
  readonly #output = new Uint8Array(WINDOW + OUTPUT + 258);
  #filled = 0;
  /** How much of what is filled has been handed out. */
  #given = 0;
  #at: number;
  #bits = 0;
  #bitCount = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** The first byte that is no longer of the stream, once all has been read. */
  get end(): number {
    return this.#at - (this.#bitCount >> 3);
  }

  *read(): Generator<Uint8Array> {
    let isLast = false;
    while (!isLast) {
      isLast = this.#take(1) === 1;
      const kind = this.#take(2);
      if (kind === 0) yield* this.#readStored();
      else if (kind === 1) yield* this.#readCoded(makeFixedTables());
      else if (kind === 2) yield* this.#readCoded(this.#readTables());
      else throw new Error('a block of a kind that does not exist');
    }
    yield* this.#give();
  }

  /** Hands out a copy of what is new and keeps the window. */
  *#give(): Generator<Uint8Array> {
    if (this.#filled > this.#given) yield this.#output.slice(this.#given, this.#filled);
    const kept = Math.min(this.#filled, WINDOW);
    this.#output.copyWithin(0, this.#filled - kept, this.#filled);
    this.#filled = kept;
    this.#given = kept;
  }

  #fill(count: number): void {
    while (this.#bitCount < count) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new InflateEnd('the stream ends too early');
      this.#bits |= byte << this.#bitCount;
      this.#at += 1;
      this.#bitCount += 8;
    }
  }

  #take(count: number): number {
    this.#fill(count);
    const value = this.#bits & ((1 << count) - 1);
    this.#bits >>>= count;
    this.#bitCount -= count;
    return value;
  }

  #decode(table: Table): number {
    // The last code of a stream may have fewer bits behind it than the longest code.
    while (this.#bitCount < MAX_BITS && this.#at < this.#bytes.length) {
      this.#bits |= (this.#bytes[this.#at] as number) << this.#bitCount;
      this.#at += 1;
      this.#bitCount += 8;
    }
    const entry = table[this.#bits & ((1 << MAX_BITS) - 1)] as number;
    const length = entry & 15;
    if (length === 0) throw new Error('a code word that does not exist');
    if (length > this.#bitCount) throw new InflateEnd('the stream ends too early');
    this.#bits >>>= length;
    this.#bitCount -= length;
    return entry >> 4;
  }

  *#readStored(): Generator<Uint8Array> {
    this.#take(this.#bitCount & 7);
    const length = this.#take(16);
    if (this.#take(16) !== (length ^ 0xffff)) throw new Error('a block with a wrong length');
    this.#at -= this.#bitCount >> 3;
    this.#bits = 0;
    this.#bitCount = 0;
    if (this.#at + length > this.#bytes.length) throw new InflateEnd('the stream ends too early');
    if (this.#filled + length > this.#output.length) yield* this.#give();
    this.#output.set(this.#bytes.subarray(this.#at, this.#at + length), this.#filled);
    this.#at += length;
    this.#filled += length;
  }

  #readTables(): { literals: Table; distances: Table } {
    const literalCount = this.#take(5) + 257;
    const distanceCount = this.#take(5) + 1;
    const codeCount = this.#take(4) + 4;
    if (literalCount > 286 || distanceCount > 30) throw new Error('a code with too many words');
    const codeLengths = new Uint8Array(19);
    for (const symbol of CODE_ORDER.slice(0, codeCount)) codeLengths[symbol] = this.#take(3);
    const codes = makeTable(codeLengths, true);
    const lengths = new Uint8Array(literalCount + distanceCount);
    let at = 0;
    while (at < lengths.length) {
      const symbol = this.#decode(codes);
      if (symbol < 16) {
        lengths[at] = symbol;
        at += 1;
        continue;
      }
      if (symbol === 16 && at === 0) throw new Error('a repetition of nothing');
      const value = symbol === 16 ? (lengths[at - 1] as number) : 0;
      const count =
        symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7);
      if (at + count > lengths.length) throw new Error('too many code lengths');
      lengths.fill(value, at, at + count);
      at += count;
    }
    if (lengths[256] === 0) throw new Error('a block without an end');
    return {
      literals: makeTable(lengths.subarray(0, literalCount), false),
      distances: makeTable(lengths.subarray(literalCount), false),
    };
  }

  *#readCoded(tables: { literals: Table; distances: Table }): Generator<Uint8Array> {
    for (;;) {
      if (this.#filled >= WINDOW + OUTPUT) yield* this.#give();
      if (this.#copyUntilFull(tables)) return;
    }
  }

  /** Whether the block has ended. */
  #copyUntilFull({ literals, distances }: { literals: Table; distances: Table }): boolean {
    const output = this.#output;
    while (this.#filled < WINDOW + OUTPUT) {
      const symbol = this.#decode(literals);
      if (symbol < 256) {
        output[this.#filled] = symbol;
        this.#filled += 1;
        continue;
      }
      if (symbol === 256) return true;
      const kind = symbol - 257;
      if (kind >= LENGTH_BASE.length) throw new Error('a length that does not exist');
      const length = (LENGTH_BASE[kind] as number) + this.#take(LENGTH_BITS[kind] as number);
      const far = this.#decode(distances);
      if (far >= DISTANCE_BASE.length) throw new Error('a distance that does not exist');
      const distance = (DISTANCE_BASE[far] as number) + this.#take(DISTANCE_BITS[far] as number);
      if (distance > this.#filled) throw new Error('a distance to before the start');
      const end = this.#filled + length;
      for (; this.#filled < end; this.#filled += 1)
        output[this.#filled] = output[this.#filled - distance] as number;
    }
    return false;
  }
}
