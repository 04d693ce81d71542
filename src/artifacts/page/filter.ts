import type { Kind, OutcomeClass, Row } from './model.ts';

export interface Filter {
  /** Empty: all. */
  readonly kinds: ReadonlySet<Kind>;
  readonly outcome: OutcomeClass | 'all';
  /** Words that must all occur. */
  readonly text: string;
  readonly withSystem: boolean;
}

export const NO_FILTER: Filter = { kinds: new Set(), outcome: 'all', text: '', withSystem: false };

/** Positions of the rows that pass. */
export function applyFilter(rows: readonly Row[], filter: Filter): Uint32Array {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Uint32Array(rows.length);
  let count = 0;
  rows.forEach((row, at) => {
    if (filter.kinds.size > 0 && !filter.kinds.has(row.kind)) return;
    if (filter.outcome !== 'all' && row.outcomeClass !== filter.outcome) return;
    if (row.isSystem && !filter.withSystem) return;
    if (words.length > 0 && !hasWords(row, words)) return;
    found[count] = at;
    count += 1;
  });
  return found.subarray(0, count);
}

function hasWords(row: Row, words: readonly string[]): boolean {
  const { op, path, target, outcome, program, refusedBy = '', event } = row;
  const text =
    `${op}\n${path}\n${target}\n${outcome}\n${program}\n${refusedBy}\n${event.type}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export function countKinds(rows: readonly Row[]): ReadonlyMap<Kind, number> {
  const counts = new Map<Kind, number>();
  for (const { kind } of rows) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
