import type { Facet, Group } from './difference.ts';

/** Whose a fact is: a bit each, so that what both have is kept once. */
export const BASELINE = 1;
export const CANDIDATE = 2;
export const BOTH = 3;

export type SideBit = typeof BASELINE | typeof CANDIDATE;

interface FacetEntry {
  readonly group: Group;
  readonly facet: Facet;
}

export interface LedgerLine extends FacetEntry {
  readonly subject: string;
  /** Of whom it is known: BASELINE, CANDIDATE or BOTH. */
  readonly sides: number;
}

/**
 * The facts of two bundles. A run has many paths and few ways in which they were used, so the ways are numbered, and a
 * fact is the number of its way and its path.
 */
export class Ledger {
  readonly #ways: FacetEntry[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #facts = new Map<string, number>();
  /** Whoever hands over the very same facet again need not wait until it is found. */
  #last: (FacetEntry & { readonly number: number }) | undefined;

  add(side: number, group: Group, subject: string, facet: Facet): void {
    const key = `${this.#numberOf(group, facet)} ${subject}`;
    const known = this.#facts.get(key) ?? 0;
    if (known !== (known | side)) this.#facts.set(key, known | side);
  }

  *lines(): Generator<LedgerLine> {
    for (const [key, sides] of this.#facts) yield this.#lineOf(key, sides);
  }

  /** What only one of the two has. */
  *differing(): Generator<LedgerLine> {
    for (const [key, sides] of this.#facts) if (sides !== BOTH) yield this.#lineOf(key, sides);
  }

  /** What both have of some subjects. */
  *shared(
    subjects: readonly { readonly group: Group; readonly subject: string }[],
  ): Generator<LedgerLine> {
    // Few subjects are looked up; for many it takes less to go through everything.
    if (subjects.length * this.#ways.length > this.#facts.size) {
      for (const [key, sides] of this.#facts) if (sides === BOTH) yield this.#lineOf(key, sides);
      return;
    }
    for (const { group, subject } of subjects)
      for (const [number, way] of this.#ways.entries())
        if (way.group === group && this.#facts.get(`${number} ${subject}`) === BOTH)
          yield { ...way, subject, sides: BOTH };
  }

  #lineOf(key: string, sides: number): LedgerLine {
    const space = key.indexOf(' ');
    const way = this.#ways[Number(key.slice(0, space))] as FacetEntry;
    return { group: way.group, facet: way.facet, subject: key.slice(space + 1), sides };
  }

  #numberOf(group: Group, facet: Facet): number {
    const last = this.#last;
    if (last?.facet === facet && last.group === group) return last.number;
    // A name may hold any character: only JSON keeps the parts apart.
    const text = JSON.stringify([group, facet]);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#ways.push({ group, facet }) - 1;
      this.#numbers.set(text, number);
    }
    this.#last = { group, facet, number };
    return number;
  }
}
