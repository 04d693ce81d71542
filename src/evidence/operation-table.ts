import type { Operations } from './evidence.ts';

interface Fact {
  readonly op: string;
  readonly outcome: string;
  readonly image: string;
}

/**
 * Sets of facts (operation, outcome, program), by number. Most files have the same few things done to them by the same
 * few programs, so that there are few sets for many files, and each exists once.
 */
export class OperationTable {
  readonly #facts: Fact[] = [];
  readonly #factIds = new Map<string, number>();
  /** By number of the set: its facts, sorted. */
  readonly #sets: number[][] = [[]];
  readonly #setIds = new Map<string, number>([['', 0]]);
  /** By set and fact: the set with the fact in it. */
  readonly #next = new Map<string, number>();
  readonly #made = new Map<number, Operations>();

  /** The number of the set that has one fact more; 0 is the empty one. */
  add(set: number, { op, outcome, image }: Fact): number {
    const fact = this.#factId({ op, outcome, image });
    const key = `${set} ${fact}`;
    const known = this.#next.get(key);
    if (known !== undefined) return known;
    const facts = [...new Set([...(this.#sets[set] ?? []), fact])].sort((a, b) => a - b);
    const setKey = facts.join(' ');
    let id = this.#setIds.get(setKey);
    if (id === undefined) {
      id = this.#sets.push(facts) - 1;
      this.#setIds.set(setKey, id);
    }
    this.#next.set(key, id);
    return id;
  }

  operations(set: number): Operations {
    let made = this.#made.get(set);
    if (!made) {
      made = this.#make(set);
      this.#made.set(set, made);
    }
    return made;
  }

  #factId(fact: Fact): number {
    const key = `${fact.op}\0${fact.outcome}\0${fact.image}`;
    let id = this.#factIds.get(key);
    if (id === undefined) {
      id = this.#facts.push(fact) - 1;
      this.#factIds.set(key, id);
    }
    return id;
  }

  #make(set: number): Operations {
    const facts = (this.#sets[set] ?? []).flatMap((id) => this.#facts[id] ?? []);
    const operations: Record<string, Record<string, string[]>> = {};
    for (const op of listSorted(facts.map((fact) => fact.op))) {
      const own = facts.filter((fact) => fact.op === op);
      operations[op] = Object.fromEntries(
        listSorted(own.map(({ outcome }) => outcome)).map((outcome) => [
          outcome,
          own
            .filter((fact) => fact.outcome === outcome)
            .map(({ image }) => image)
            .sort(),
        ]),
      );
    }
    return operations;
  }
}

function listSorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
