import { looksRandom } from './randomness.ts';

/** How many names a run may ask the outside for, and how many at once. */
export interface NameLimits {
  /** In the whole run. */
  readonly names: number;
  /** By one rule: `*.example.org` lets in every name below, and each name tells its owner something. */
  readonly namesOfRule: number;
  /** By one rule, of names that look like data. Content networks use a few; a tunnel needs thousands. */
  readonly randomNamesOfRule: number;
  readonly atOnce: number;
  /** By one rule, so that slow servers behind one do not use up what the others need. */
  readonly atOnceOfRule: number;
}

export const NAME_LIMITS: NameLimits = {
  names: 65_536,
  namesOfRule: 1024,
  randomNamesOfRule: 64,
  atOnce: 256,
  atOnceOfRule: 64,
};

interface RuleCount {
  names: number;
  randomNames: number;
  atOnce: number;
}

/** Counts what is asked for outside, in all and by rule. */
export class NameBudget {
  readonly #limits: NameLimits;
  /** As many as there are rules. */
  readonly #rules = new Map<string | null, RuleCount>();
  #names = 0;
  #atOnce = 0;

  constructor(limits: Partial<NameLimits> = {}) {
    this.#limits = { ...NAME_LIMITS, ...limits };
  }

  /** For a name that was not asked for before: why not, or undefined when it may be. */
  admit(name: string, rule: string | null): string | undefined {
    const { names, namesOfRule, randomNamesOfRule } = this.#limits;
    const count = this.#countOf(rule);
    if (this.#names >= names) return `it is one name more than the ${names} of a run`;
    if (count.names >= namesOfRule)
      return `looks like a tunnel: more than ${namesOfRule} names by one rule`;
    const isRandom = looksRandom(name);
    if (isRandom && count.randomNames >= randomNamesOfRule)
      return `looks like a tunnel: more than ${randomNamesOfRule} random names by one rule`;
    this.#names++;
    count.names++;
    if (isRandom) count.randomNames++;
    return undefined;
  }

  /** False when too many are under way. */
  start(rule: string | null): boolean {
    const count = this.#countOf(rule);
    if (this.#atOnce >= this.#limits.atOnce || count.atOnce >= this.#limits.atOnceOfRule)
      return false;
    this.#atOnce++;
    count.atOnce++;
    return true;
  }

  end(rule: string | null): void {
    this.#atOnce--;
    this.#countOf(rule).atOnce--;
  }

  #countOf(rule: string | null): RuleCount {
    const known = this.#rules.get(rule);
    if (known) return known;
    const count = { names: 0, randomNames: 0, atOnce: 0 };
    this.#rules.set(rule, count);
    return count;
  }
}
