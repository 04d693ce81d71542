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

  add(side: number, group: Group, subject: string, facet: Facet): void {
    const key = `${this.#numberOf(group, facet)} ${subject}`;
    this.#facts.set(key, (this.#facts.get(key) ?? 0) | side);
  }

  *lines(): Generator<LedgerLine> {
    for (const [key, sides] of this.#facts) {
      const space = key.indexOf(' ');
      const way = this.#ways[Number(key.slice(0, space))];
      if (way) yield { ...way, subject: key.slice(space + 1), sides };
    }
  }

  #numberOf(group: Group, facet: Facet): number {
    // A name may hold any character: only JSON keeps the parts apart.
    const text = JSON.stringify([group, facet]);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#ways.push({ group, facet }) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
