import { relative } from 'node:path/posix';
import { type Grain, GRAINS, type Group, type Grouped, groupOf } from './event-groups.ts';

interface FoldedEvent extends Grouped {
  readonly target: string;
  readonly atMs: number;
}

interface Fold extends Group {
  count: number;
  /** Modulo 2^128. */
  sum: bigint;
  atMs: number;
}

/** Groups of events of which only the number and a digest are left. */
export class Folds {
  readonly #digest: (text: string) => string;
  readonly #folds: Fold[] = [];
  /** By group, for each grain that was ever used. */
  readonly #byGrain = new Map<Grain, Map<string, number>>();

  constructor(digest: (text: string) => string) {
    this.#digest = digest;
  }

  get count(): number {
    return this.#folds.length;
  }

  /** The fold that an event belongs to, -1 when there is none; the finest if there are several. */
  find(event: Grouped): number {
    for (const grain of GRAINS) {
      const groups = this.#byGrain.get(grain);
      const fold = groups?.get(keyOf(groupOf(event, grain)));
      if (fold !== undefined) return fold;
    }
    return -1;
  }

  /** The fold for the group of an event, made when it is not there. */
  open(event: Grouped, grain: Grain): number {
    const groups = this.#byGrain.get(grain) ?? new Map<string, number>();
    this.#byGrain.set(grain, groups);
    const group = groupOf(event, grain);
    const key = keyOf(group);
    const known = groups.get(key);
    if (known !== undefined) return known;
    groups.set(key, this.#folds.length);
    return this.#folds.push({ ...group, count: 0, sum: 0n, atMs: Infinity }) - 1;
  }

  add(fold: number, event: FoldedEvent, count: number): void {
    const found = this.#folds[fold];
    if (!found) return;
    found.count += count;
    found.atMs = Math.min(found.atMs, event.atMs);
    // The sum does not depend on the order. Names are taken from the directory on, so that it may lie anywhere.
    const hex = this.#digest(describeWithin(found.directory, event)).slice(0, 32);
    found.sum = BigInt.asUintN(128, found.sum + BigInt(`0x${hex}`));
  }

  addCount(fold: number, more: number): void {
    const found = this.#folds[fold];
    if (found) found.count += more;
  }

  [Symbol.iterator](): Iterator<Readonly<Fold>> {
    return this.#folds.values();
  }
}

function keyOf({ op, errno, program, directory }: Group): string {
  return `${op} ${errno} ${program} ${directory}`;
}

function describeWithin(directory: string, { op, path, target }: FoldedEvent): string {
  const name = path.slice(directory === '/' ? 0 : directory.length);
  const leadsTo = op === 'rename' || op === 'link' ? relative(directory, target) : target;
  return `${name}\0${leadsTo}`;
}
