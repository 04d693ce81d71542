import { scrubSubject } from './upstream-scrub.ts';
import type { EntryKind, UpstreamEntry, UpstreamSource } from './upstream-run.ts';

export type Detail = 'summary' | 'observed' | 'full';

/** An event before it has its envelope. */
export interface UpstreamEvent {
  readonly type: string;
  readonly time: string;
  readonly subject?: string;
  readonly data: object;
}

const PHASE = 'urn:assay:phase:profile';

/** By kind: the type of the event, and what the subject is called in its data. */
const TYPES = {
  file: { type: 'assay.fs.access', member: 'file' },
  network: { type: 'assay.net.connect', member: 'host' },
  program: { type: 'assay.process.exec', member: 'cmd' },
} as const;

/** The events that the older format exports: what its own readers compare and look for. */
export function* makeUpstreamEvents(
  source: UpstreamSource,
  detail: Detail,
): Iterable<UpstreamEvent> {
  const { time } = source;
  yield {
    type: 'assay.profile.started',
    time,
    subject: PHASE,
    data: {
      profile_name: source.name,
      profile_version: source.version,
      total_runs_aggregated: source.totalRuns,
    },
  };
  for (const data of source.degradations)
    yield { type: 'assay.sandbox.degraded', time, subject: data.component, data };
  const counts = { file: 0, network: 0, program: 0 };
  let last = time;
  for (const kind of ['file', 'network', 'program'] as const)
    for (const entry of source.entries(kind)) {
      counts[kind]++;
      const event = makeEntryEvent(kind, entry, { time, detail });
      if (event.time > last) last = event.time;
      if (detail !== 'summary') yield event;
    }
  yield {
    type: 'assay.profile.finished',
    time: last,
    subject: PHASE,
    data: {
      files_count: counts.file,
      network_count: counts.network,
      processes_count: counts.program,
      sandbox_degradation_count: source.degradations.length,
      integrity_scope: null,
    },
  };
}

function makeEntryEvent(
  kind: EntryKind,
  { subject, hits, time, more, full }: UpstreamEntry,
  options: { readonly time: string; readonly detail: Detail },
): UpstreamEvent {
  const { type, member } = TYPES[kind];
  const isFull = options.detail === 'full';
  return {
    type,
    time: time ?? options.time,
    subject: isFull ? subject : scrubSubject(subject),
    data: { ...more, ...(isFull && { [member]: subject, ...full }), hits },
  };
}
