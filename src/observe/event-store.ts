import type { EventLine } from './decode-line.ts';
import { EventColumns, type StoredEvent } from './event-columns.ts';
import { COARSEST, type Grain, GRAINS } from './event-groups.ts';
import { Folds } from './folds.ts';

/** The helper counts no more than these; what it sees beyond it repeats. */
const MAX_IDS = 1 << 21;
/** What is taken together at one time: enough for a while, in groups that are worth it. */
const FREED_PART = 4;
const MAX_GROUPS = 512;
const MIN_GROUP_SIZE = 16;
/** More rows than there can be. */
const ROWS = 2 ** 20;
/** With so many groups, only the coarsest are made. */
const MAX_FOLDS = 8192;

export interface EventStoreOptions {
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly seed: number;
  readonly digest: (text: string) => string;
}

/**
 * Distinct events with their counts. When there are too many, the largest groups are folded: a program that floods the
 * record in one place loses the details of that place, and hides nothing that it does elsewhere, before or after.
 */
export class EventStore {
  readonly #columns: EventColumns;
  readonly #folds: Folds;
  readonly #options: EventStoreOptions;
  /** By the helper's number: row + 1, or -(fold + 1). */
  #ids = new Int32Array(1024);
  /** By row, for the time that room is made: kept, since they are large and would have to be collected. */
  #room: Room | undefined;

  constructor(options: EventStoreOptions) {
    this.#options = options;
    this.#columns = new EventColumns({ maxRows: options.maxEvents, seed: options.seed });
    this.#folds = new Folds(options.digest);
  }

  /** Whether it was not known; of what belongs to a fold, that cannot be told. */
  add(line: EventLine): boolean {
    const found = this.#columns.find(line);
    if (found >= 0) {
      this.#columns.merge(found, line);
      this.#remember(line.id, found + 1);
      if (!line.isToldEachTime) return false;
      this.#columns.add(line, { isRepeated: true });
      this.#keepSmall();
      return false;
    }
    const fold = this.#folds.find(line);
    if (fold >= 0) {
      this.#folds.add(fold, line, 1);
      this.#remember(line.id, -(fold + 1));
      return true;
    }
    this.#remember(line.id, this.#columns.add(line) + 1);
    this.#keepSmall();
    return true;
  }

  /** A program beyond those that are kept one by one. */
  foldProgram(image: string, script: string, atMs: number): void {
    const event = { op: 'exec', path: image, target: script, errno: 0, program: 1, atMs } as const;
    this.#folds.add(this.#folds.open(event, COARSEST), event, 1);
  }

  /** The helper has seen the event with this number `count` times in all. */
  setCount(id: number, count: number): boolean {
    const place = this.#ids[id] ?? 0;
    if (place > 0) this.#columns.addCount(place - 1, count - 1);
    if (place < 0) this.#folds.addCount(-place - 1, count - 1);
    return place !== 0;
  }

  /** Gives every event up; counts cannot be set after it. */
  drain(visit: (event: StoredEvent) => void): void {
    this.#ids = new Int32Array(0);
    this.#columns.drain(visit);
  }

  get folds(): Folds {
    return this.#folds;
  }

  #remember(id: number, place: number): void {
    if (id >= MAX_IDS) return;
    if (id >= this.#ids.length) {
      const grown = new Int32Array(Math.max(this.#ids.length * 2, id + 1));
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids[id] = place;
  }

  #keepSmall(): void {
    if (this.#columns.isFull || this.#columns.sizeBytes > this.#options.maxBytes) this.#makeRoom();
  }

  #makeRoom(): void {
    const columns = this.#columns;
    const room = this.#useRoom();
    const weigh = columns.isFull ? () => 1 : (row: number) => columns.sizeOf(row);
    for (const grain of GRAINS) {
      const isLast = grain === COARSEST;
      if (this.#folds.count >= MAX_FOLDS && !isLast) continue;
      const hashes = columns.hashGroups(grain, room.hashes);
      const chosen = chooseGroups({ hashes, order: room.order, weigh, isLast });
      if (chosen) return this.#fold(grain, hashes, chosen);
    }
  }

  #useRoom(): Room {
    const { maxEvents } = this.#options;
    this.#room ??= {
      hashes: new Uint32Array(maxEvents),
      order: new Float64Array(maxEvents),
      places: new Int32Array(maxEvents),
    };
    return this.#room;
  }

  #fold(grain: Grain, hashes: Uint32Array, chosen: ReadonlySet<number>): void {
    // Where each row is now, in the terms of #ids.
    const places = this.#useRoom().places.fill(0);
    for (let row = 0; row < hashes.length; row++) {
      if (!chosen.has(hashes[row] ?? 0)) continue;
      const event = this.#columns.read(row);
      const fold = this.#folds.open(event, grain);
      this.#folds.add(fold, event, event.count);
      places[row] = -(fold + 1);
    }
    this.#columns.remove(
      (row) => places[row] !== 0,
      (from, to) => (places[from] = to + 1),
    );
    const ids = this.#ids;
    for (let id = 0; id < ids.length; id++) {
      const place = ids[id] ?? 0;
      if (place > 0) ids[id] = places[place - 1] ?? 0;
    }
  }
}

interface Room {
  readonly hashes: Uint32Array;
  readonly order: Float64Array;
  readonly places: Int32Array;
}

interface Choice {
  /** By row: its group. */
  readonly hashes: Uint32Array;
  /** Room for as many numbers. */
  readonly order: Float64Array;
  /** How much is won when a row is folded. */
  readonly weigh: (row: number) => number;
  readonly isLast: boolean;
}

/** The largest groups that together free as much as wanted; undefined when groups of this kind are too small. */
function chooseGroups({ hashes, order, weigh, isLast }: Choice): ReadonlySet<number> | undefined {
  // Hash and row in one number, since typed arrays of numbers are sorted fast and in little memory.
  hashes.forEach((hash, row) => (order[row] = hash * ROWS + row));
  const rows = order.subarray(0, hashes.length).sort();
  const groups: { hash: number; weight: number }[] = [];
  let total = 0;
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const hash = Math.floor((rows[start] ?? 0) / ROWS);
    let weight = 0;
    for (; end < rows.length && Math.floor((rows[end] ?? 0) / ROWS) === hash; end++)
      weight += weigh((rows[end] ?? 0) % ROWS);
    total += weight;
    if (isLast || end - start >= MIN_GROUP_SIZE) groups.push({ hash, weight });
  }
  groups.sort((a, b) => b.weight - a.weight);
  const wanted = total / FREED_PART;
  const chosen = new Set<number>();
  let freed = 0;
  for (const { hash, weight } of groups) {
    if (freed >= wanted || (chosen.size >= MAX_GROUPS && !isLast)) break;
    chosen.add(hash);
    freed += weight;
  }
  return freed >= wanted ? chosen : undefined;
}
