import type { Destination, EgressLog, Verdict } from './egress.ts';

/** What was refused at the doors, as somebody is told at the end. */
export interface RefusedPlace {
  /** `example.org:443`, or a name alone, which was only asked for. */
  readonly place: string;
  readonly verdict: Verdict;
}

const MAX_PLACES = 100;

/** Passes every fact on, and remembers the first places that were refused. */
export class RefusalTally implements EgressLog {
  readonly #next: EgressLog | undefined;
  readonly #places = new Map<string, Verdict>();
  /** Refusals that are not in the list, since it is full. Repeated ones among them. */
  more = 0;

  constructor(next: EgressLog | undefined) {
    this.#next = next;
  }

  question(...[fact]: Parameters<EgressLog['question']>): void {
    if (!fact.verdict.isAllowed) this.#add(fact.name, fact.verdict);
    this.#next?.question(fact);
  }

  connection(...[fact]: Parameters<EgressLog['connection']>): void {
    if (!fact.verdict.isAllowed) this.#add(formatPlace(fact.destination), fact.verdict);
    this.#next?.connection(fact);
  }

  list(): RefusedPlace[] {
    return [...this.#places].map(([place, verdict]) => ({ place, verdict }));
  }

  #add(place: string, verdict: Verdict): void {
    if (this.#places.has(place)) return;
    if (this.#places.size < MAX_PLACES) this.#places.set(place, verdict);
    else this.more++;
  }
}

function formatPlace({ name, address = '', port }: Destination): string {
  const host = name ?? (address.includes(':') ? `[${address}]` : address);
  return `${host}:${port}`;
}
