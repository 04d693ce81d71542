import { type EventLine, LINE_OPS, MOVES } from './decode-line.ts';
import type { Basis } from './event.ts';
import { endOfDirectory, type Grain, hashBytes, mix } from './event-groups.ts';

/** Strongest claim first: what was seen in two ways is stated in the weaker one. */
const BASES: readonly Basis[] = ['performed', 'observed', 'predicted'];

const CHUNK_BYTES = 1 << 20;
/** What a run of few events needs; more than that is large at once. */
const FIRST_ROWS = 512;
const FIRST_BYTES = 1 << 16;
const DIRECTORY = 4;
const REPLACING = 8;
const KERNEL = 16;
const MOVE_SHIFT = 5;
const MOVE = 3 << MOVE_SHIFT;
/** Of a row that is there for its place among the others: the first of its kind is found in its stead. */
const REPEATED = 128;

/** What is kept of one distinct event. */
export type StoredEvent = Omit<EventLine, 'type' | 'id' | 'isToldEachTime'> & {
  readonly count: number;
};

/**
 * Distinct events as rows in columns, with their texts in one row of chunks: an object with its strings would take five
 * times as much. Equal events are found by hash and told apart by all that they are.
 */
export class EventColumns {
  readonly #maxRows: number;
  readonly #seed: number;
  #length = 0;
  #hash: Uint32Array;
  /** Chunk and place in it, in one number. */
  #place: Uint32Array;
  #pathBytes: Uint32Array;
  #targetBytes: Uint32Array;
  #requestedBytes: Uint32Array;
  #stateBytes: Uint8Array;
  #op: Uint8Array;
  #bits: Uint8Array;
  #errno: Int32Array;
  #program: Uint32Array;
  #rule: Int32Array;
  #count: Float64Array;
  #atMs: Uint32Array;
  /** Row + 1 by hash, with open addressing; 0 is free. */
  #slots: Uint32Array;
  readonly #chunks: (Buffer | undefined)[] = [];
  #end = CHUNK_BYTES;
  #scratch = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #scratchPath = 0;
  #scratchKey = 0;

  constructor({ maxRows, seed }: { readonly maxRows: number; readonly seed: number }) {
    this.#maxRows = maxRows;
    this.#seed = seed;
    const rows = Math.min(maxRows, FIRST_ROWS);
    this.#hash = new Uint32Array(rows);
    this.#place = new Uint32Array(rows);
    this.#pathBytes = new Uint32Array(rows);
    this.#targetBytes = new Uint32Array(rows);
    this.#requestedBytes = new Uint32Array(rows);
    this.#stateBytes = new Uint8Array(rows);
    this.#op = new Uint8Array(rows);
    this.#bits = new Uint8Array(rows);
    this.#errno = new Int32Array(rows);
    this.#program = new Uint32Array(rows);
    this.#rule = new Int32Array(rows);
    this.#count = new Float64Array(rows);
    this.#atMs = new Uint32Array(rows);
    this.#slots = new Uint32Array(slotsFor(rows));
  }

  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length >= this.#maxRows;
  }

  get sizeBytes(): number {
    return this.#chunks.length * CHUNK_BYTES;
  }

  addCount(row: number, more: number): void {
    this.#count[row] = (this.#count[row] ?? 0) + more;
  }

  /** The row of the same event; -1 when there is none. What `add` and `groupOf` need is left in the scratch space. */
  find(line: EventLine): number {
    const scratch = this.#useScratch(line);
    this.#scratchPath = scratch.write(line.path, 0);
    this.#scratchKey = this.#scratchPath + scratch.write(line.target, this.#scratchPath);
    const mask = this.#slots.length - 1;
    const hash = this.#hashLine(line);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#slots[slot] ?? 0) - 1;
      if (row < 0) return -1;
      if (this.#hash[row] === hash && this.#isSame(row, line)) return row;
    }
  }

  /** Two sightings of one event that were made in different ways. What was there before it, the first one tells. */
  merge(row: number, line: EventLine): void {
    const bits = this.#bits[row] ?? 0;
    const basis = Math.max(bits & 3, BASES.indexOf(line.basis));
    this.#bits[row] = ((bits | (bitsOf(line) & KERNEL)) & ~3) | basis;
    this.#atMs[row] = Math.min(this.#atMs[row] ?? 0, line.atMs);
    this.addCount(row, 1);
  }

  /** Adds what `find` has just not found, or, with `isRepeated`, has found and counted. */
  add(line: EventLine, { isRepeated = false } = {}): number {
    if (this.#length === this.#hash.length) this.#grow();
    const row = this.#length++;
    const scratch = this.#scratch;
    const requested = scratch.write(line.requested, this.#scratchKey);
    const state = scratch.write(line.state, this.#scratchKey + requested);
    const size = this.#scratchKey + requested + state;
    this.#place[row] = this.#makePlace(size);
    scratch.copy(this.#chunkOf(row), this.#startOf(row), 0, size);
    this.#pathBytes[row] = this.#scratchPath;
    this.#targetBytes[row] = this.#scratchKey - this.#scratchPath;
    this.#requestedBytes[row] = requested;
    this.#stateBytes[row] = state;
    this.#op[row] = LINE_OPS.indexOf(line.op);
    this.#bits[row] = bitsOf(line) | (isRepeated ? REPEATED : 0);
    this.#errno[row] = line.errno;
    this.#program[row] = line.program;
    this.#rule[row] = line.rule;
    this.#count[row] = isRepeated ? 0 : 1;
    this.#atMs[row] = line.atMs;
    this.#hash[row] = this.#hashLine(line);
    this.#link(row);
    return row;
  }

  read(row: number): StoredEvent {
    const chunk = this.#chunkOf(row);
    let at = this.#startOf(row);
    const next = (size = 0): string => (size ? chunk.toString('utf8', at, (at += size)) : '');
    const bits = this.#bits[row] ?? 0;
    return {
      path: next(this.#pathBytes[row]),
      target: next(this.#targetBytes[row]),
      requested: next(this.#requestedBytes[row]),
      state: next(this.#stateBytes[row]),
      program: this.#program[row] ?? 0,
      op: LINE_OPS[this.#op[row] ?? 0] ?? 'read',
      errno: this.#errno[row] ?? 0,
      basis: BASES[bits & 3] ?? 'predicted',
      rule: this.#rule[row] ?? 0,
      isDirectory: (bits & DIRECTORY) !== 0,
      isReplacing: (bits & REPLACING) !== 0,
      isKernel: (bits & KERNEL) !== 0,
      move: MOVES[(bits & MOVE) >> MOVE_SHIFT] ?? 'plain',
      count: this.#count[row] ?? 1,
      atMs: this.#atMs[row] ?? 0,
    };
  }

  /** Every event in order of arrival, each given up as it is read: the columns are of no use afterwards. */
  drain(visit: (event: StoredEvent) => void): void {
    for (let row = 0, done = 0; row < this.#length; row++) {
      while (done < (this.#place[row] ?? 0) >>> 20) this.#chunks[done++] = undefined;
      visit(this.read(row));
    }
    this.#length = 0;
    this.#chunks.length = 0;
  }

  /** A number for each row that rows of one group share, and others hardly ever. */
  hashGroups(grain: Grain, into: Uint32Array): Uint32Array {
    for (let row = 0; row < this.#length; row++) {
      const start = this.#startOf(row);
      const chunk = this.#chunkOf(row);
      const end = endOfDirectory(chunk, start, start + (this.#pathBytes[row] ?? 0), grain.depth);
      let hash = mix(mix(this.#seed, this.#op[row] ?? 0), this.#errno[row] ?? 0);
      if (grain.isByProgram) hash = mix(hash, this.#program[row] ?? 0);
      into[row] = hashBytes(hash, chunk, start, end);
    }
    return into.subarray(0, this.#length);
  }

  /** Takes rows out and closes the gaps. */
  remove(isGone: (row: number) => boolean, onMove: (from: number, to: number) => void): void {
    const length = this.#length;
    let chunk = 0;
    let end = 0;
    this.#length = 0;
    this.#slots.fill(0);
    for (let row = 0; row < length; row++) {
      if (isGone(row)) continue;
      const size = this.sizeOf(row);
      if (end + size > CHUNK_BYTES) [chunk, end] = [chunk + 1, 0];
      const target = this.#chunks[chunk];
      // What stays only ever moves towards the front, so nothing is overwritten that is still to be read.
      if (target)
        this.#chunkOf(row).copy(target, end, this.#startOf(row), this.#startOf(row) + size);
      const to = this.#length++;
      this.#moveRow(row, to);
      this.#place[to] = chunk * CHUNK_BYTES + end;
      end += size;
      this.#link(to);
      onMove(row, to);
    }
    this.#chunks.length = this.#length ? chunk + 1 : 0;
    this.#end = this.#length ? end : CHUNK_BYTES;
  }

  /** Most runs have few events, and a process may have many runs: room for the most that there can be is made in steps. */
  #grow(): void {
    const rows = Math.min(this.#maxRows, this.#hash.length * 4);
    this.#hash = grown(this.#hash, new Uint32Array(rows));
    this.#place = grown(this.#place, new Uint32Array(rows));
    this.#pathBytes = grown(this.#pathBytes, new Uint32Array(rows));
    this.#targetBytes = grown(this.#targetBytes, new Uint32Array(rows));
    this.#requestedBytes = grown(this.#requestedBytes, new Uint32Array(rows));
    this.#stateBytes = grown(this.#stateBytes, new Uint8Array(rows));
    this.#op = grown(this.#op, new Uint8Array(rows));
    this.#bits = grown(this.#bits, new Uint8Array(rows));
    this.#errno = grown(this.#errno, new Int32Array(rows));
    this.#program = grown(this.#program, new Uint32Array(rows));
    this.#rule = grown(this.#rule, new Int32Array(rows));
    this.#count = grown(this.#count, new Float64Array(rows));
    this.#atMs = grown(this.#atMs, new Uint32Array(rows));
    this.#slots = new Uint32Array(slotsFor(rows));
    for (let row = 0; row < this.#length; row++) this.#link(row);
  }

  #moveRow(from: number, to: number): void {
    for (const column of [
      this.#hash,
      this.#pathBytes,
      this.#targetBytes,
      this.#requestedBytes,
      this.#stateBytes,
      this.#op,
      this.#bits,
      this.#errno,
      this.#program,
      this.#rule,
      this.#count,
      this.#atMs,
    ])
      column[to] = column[from] ?? 0;
  }

  #chunkOf(row: number): Buffer {
    return this.#chunks[(this.#place[row] ?? 0) >>> 20] ?? this.#scratch;
  }

  #startOf(row: number): number {
    return (this.#place[row] ?? 0) & (CHUNK_BYTES - 1);
  }

  #keySizeOf(row: number): number {
    return (this.#pathBytes[row] ?? 0) + (this.#targetBytes[row] ?? 0);
  }

  sizeOf(row: number): number {
    return this.#keySizeOf(row) + (this.#requestedBytes[row] ?? 0) + (this.#stateBytes[row] ?? 0);
  }

  #makePlace(size: number): number {
    const isFirst = this.#chunks.length === 0;
    // What follows may be put into it when room is made, so it has to be whole before another one comes.
    if (!isFirst && this.#end + size > (this.#chunks[0]?.length ?? 0)) this.#widenFirst();
    if (this.#end + size > CHUNK_BYTES) {
      this.#chunks.push(
        Buffer.allocUnsafeSlow(isFirst && size <= FIRST_BYTES ? FIRST_BYTES : CHUNK_BYTES),
      );
      this.#end = 0;
    }
    const place = (this.#chunks.length - 1) * CHUNK_BYTES + this.#end;
    this.#end += size;
    return place;
  }

  #widenFirst(): void {
    const first = this.#chunks[0];
    if (!first || first.length === CHUNK_BYTES) return;
    const whole = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    first.copy(whole);
    this.#chunks[0] = whole;
  }

  /** Large enough for the line in whatever letters. */
  #useScratch({ path, target, requested, state }: EventLine): Buffer {
    const most = (path.length + target.length + requested.length + state.length) * 3;
    if (most > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    return this.#scratch;
  }

  #link(row: number): void {
    if ((this.#bits[row] ?? 0) & REPEATED) return;
    const mask = this.#slots.length - 1;
    let slot = (this.#hash[row] ?? 0) & mask;
    while (this.#slots[slot]) slot = (slot + 1) & mask;
    this.#slots[slot] = row + 1;
  }

  #hashLine(line: EventLine): number {
    let hash = mix(mix(this.#seed, LINE_OPS.indexOf(line.op)), line.errno);
    hash = mix(mix(hash, line.program), line.rule);
    return hashBytes(mix(hash, this.#scratchPath), this.#scratch, 0, this.#scratchKey);
  }

  #isSame(row: number, line: EventLine): boolean {
    if (this.#pathBytes[row] !== this.#scratchPath) return false;
    if (this.#keySizeOf(row) !== this.#scratchKey) return false;
    if (this.#program[row] !== line.program || this.#errno[row] !== line.errno) return false;
    if (this.#rule[row] !== line.rule || LINE_OPS[this.#op[row] ?? 0] !== line.op) return false;
    // What is below a directory moves along.
    const kind = line.op === 'rename' ? MOVE | DIRECTORY : MOVE;
    if (((this.#bits[row] ?? 0) ^ bitsOf(line)) & kind) return false;
    const start = this.#startOf(row);
    const end = start + this.#scratchKey;
    return this.#chunkOf(row).compare(this.#scratch, 0, this.#scratchKey, start, end) === 0;
  }
}

function slotsFor(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows * 2));
}

function grown<T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  from: T,
  into: T,
): T {
  into.set(from);
  return into;
}

function bitsOf(line: EventLine): number {
  return (
    BASES.indexOf(line.basis) |
    (line.isDirectory ? DIRECTORY : 0) |
    (line.isReplacing ? REPLACING : 0) |
    (line.isKernel ? KERNEL : 0) |
    (MOVES.indexOf(line.move) << MOVE_SHIFT)
  );
}
