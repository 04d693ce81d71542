import { redactText } from '../core/redact.ts';
import type { ConnectionFact } from '../egress/egress.ts';
import type { ConnectionTotals } from './event.ts';

const MAX_ENDPOINTS = 1000;
const MAX_OF_ONE = 16;
/** It may hold a request as the program wrote it. */
const MAX_NOTE_LENGTH = 200;

interface Totals {
  readonly endpoint: string;
  count: number;
  refused: number;
  sent: number;
  received: number;
  durationMs: number;
  readonly addresses: Set<string>;
  readonly doors: Set<string>;
  readonly rules: Set<string>;
  readonly notes: Set<string>;
}

/** How much went where, by endpoint. */
export class ConnectionTable {
  readonly #totals = new Map<string, Totals>();
  /** Connections to endpoints beyond those that are told one by one. */
  others = 0;

  add(endpoint: string, fact: ConnectionFact): void {
    const totals = this.#totals.get(endpoint) ?? this.#open(endpoint);
    if (!totals) {
      this.others += 1;
      return;
    }
    totals.count += 1;
    if (!fact.verdict.isAllowed) totals.refused += 1;
    totals.sent += fact.sent;
    totals.received += fact.received;
    totals.durationMs += Math.round(fact.durationMs);
    addSome(totals.addresses, fact.address);
    addSome(totals.doors, fact.door);
    addSome(totals.rules, fact.verdict.rule ?? undefined);
    addSome(totals.notes, fact.note && redactText(fact.note).slice(0, MAX_NOTE_LENGTH));
  }

  list(): ConnectionTotals[] {
    return Array.from(this.#totals.values(), (totals) => ({
      ...totals,
      addresses: [...totals.addresses].sort(),
      doors: [...totals.doors].sort(),
      rules: [...totals.rules].sort(),
      notes: [...totals.notes].sort(),
    }));
  }

  #open(endpoint: string): Totals | undefined {
    if (this.#totals.size >= MAX_ENDPOINTS) return undefined;
    const totals: Totals = {
      endpoint,
      count: 0,
      refused: 0,
      sent: 0,
      received: 0,
      durationMs: 0,
      addresses: new Set(),
      doors: new Set(),
      rules: new Set(),
      notes: new Set(),
    };
    this.#totals.set(endpoint, totals);
    return totals;
  }
}

function addSome(set: Set<string>, value: string | undefined): void {
  if (value !== undefined && value !== '' && set.size < MAX_OF_ONE) set.add(value);
}
