import type { DegradedData } from '../bundle/event-data.ts';
import { toFact } from '../bundle/facts.ts';
import type { EventSource } from './event-source.ts';

/** What events of the older format are made from, whether it comes from a bundle or from a profile. */
export interface UpstreamSource {
  readonly name: string;
  readonly version: string;
  readonly totalRuns: number;
  readonly runId: string;
  /** When it started or, of a profile, when it was last written. */
  readonly time: string;
  readonly degradations: readonly DegradedData[];
  entries(kind: EntryKind): Iterable<UpstreamEntry>;
}

export type EntryKind = 'file' | 'network' | 'program';

export interface UpstreamEntry {
  readonly subject: string;
  readonly hits: number;
  readonly time?: string;
  /** Further members of the data. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Members of the data in full detail only. */
  readonly full?: Readonly<Record<string, unknown>>;
}

/** Of a bundle: one entry for each fact, since a bundle counts nothing. */
export function toUpstreamSource({ manifest, events }: EventSource): UpstreamSource {
  const degradations: DegradedData[] = [];
  let time = '';
  for (const event of events()) {
    if (time === '') ({ time } = event);
    const fact = toFact(event);
    if (fact.kind === 'degradation')
      degradations.push({
        reason_code: 'backend_unavailable',
        degradation_mode: 'audit_fallback',
        component: fact.rule,
        detail: fact.reason,
        ...(event.data as Partial<DegradedData>),
      });
  }
  return {
    name: manifest.run_id,
    version: '1.0',
    totalRuns: 1,
    runId: manifest.run_id,
    time,
    degradations,
    *entries(kind) {
      for (const event of events()) {
        const fact = toFact(event);
        if (fact.kind !== kind) continue;
        const { path, op, outcome, program, refused_by, target } = fact;
        yield {
          subject: path,
          hits: 1,
          time: event.time,
          more: { op, outcome, ...(refused_by !== undefined && { refused_by }) },
          full: { program, ...(target !== undefined && { target }) },
        };
      }
    },
  };
}
