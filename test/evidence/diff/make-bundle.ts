import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import { BUNDLE_FORMAT } from '../../../src/evidence/bundle/bundle.ts';
import { computeIdentity } from '../../../src/evidence/bundle/content-hash.ts';
import {
  type DegradedData,
  type EndData,
  EVENT_TYPES,
  type LineData,
} from '../../../src/evidence/bundle/event-data.ts';
import {
  type EventDraft as TimedDraft,
  startManifest,
  writeBundle,
} from '../../../src/evidence/bundle/write-bundle.ts';
import {
  type CanonicalLine,
  compareLines,
} from '../../../src/evidence/normalise/canonical-line.ts';
import { RunDigest, runIdOf } from '../../../src/evidence/run-digest.ts';
import { collect, MemorySpool } from '../bundle/sample-run.ts';
import {
  type EventDraft,
  environment,
  finished,
  layers,
  policy as policyEvent,
  program,
  started,
  WATCHED,
} from './make-sides.ts';

export interface RunDraft {
  /** Files, programs, connections, refusals, degradations, changes, in any order. */
  readonly facts: readonly EventDraft[];
  readonly command?: readonly string[];
  readonly network?: string;
  readonly end?: Partial<EndData>;
  readonly policy?: object;
  readonly coverage?: EventDraft;
  readonly environment?: EventDraft;
  readonly layers?: EventDraft;
  readonly day?: number;
}

const LINE_TYPES: ReadonlySet<string> = new Set([
  EVENT_TYPES.fs,
  EVENT_TYPES.exec,
  EVENT_TYPES.net,
  EVENT_TYPES.limit,
  EVENT_TYPES.folded,
]);

/** A whole bundle, as assay would write it for such a run. */
export async function makeBundle(draft: RunDraft): Promise<Buffer> {
  const { facts, command = ['make', 'test'], day = 1 } = draft;
  const all = [program('/usr/bin/make'), ...facts];
  const isSystem = ({ data }: EventDraft): boolean => (data as { system?: true }).system === true;
  const byLine = (a: EventDraft, b: EventDraft): number => compareLines(toLine(a), toLine(b));
  const ofLines = all.filter(({ type }) => LINE_TYPES.has(type)).sort(byLine);
  const lines = ofLines.filter((event) => !isSystem(event));
  const degradations = all.filter(({ type }) => type === EVENT_TYPES.degraded);
  const end = { exit_code: 0, signal: 0, timed_out: false, limit: null, exec_error: null };
  Object.assign(end, draft.end);
  const content = draft.policy ?? { fs: { read: ['${CWD}'] } };
  const digest = `sha256:${sha256Hex(canonicalJson(content))}`;
  const runDigest = new RunDigest({
    command,
    degradations: degradations
      .map(({ data }) => `${(data as DegradedData).component}: ${(data as DegradedData).detail}`)
      .sort(),
    end: {
      execError: end.exec_error ?? '',
      exitCode: end.exit_code,
      isTimedOut: end.timed_out,
      limit: end.limit ?? '',
      signal: end.signal,
    },
  });
  for (const event of lines) runDigest.add(toLine(event));
  const hex = runDigest.finish();
  const watched = draft.coverage ?? WATCHED;
  const { surfaces } = watched.data as { surfaces: Record<string, { status: string }> };
  const sandbox = {
    format: BUNDLE_FORMAT,
    run_digest: `sha256:${hex}`,
    policy: { name: 'p.yaml', digest },
    mode: 'containment',
    level: 'all',
    coverage: Object.fromEntries(
      Object.entries(surfaces).map(([name, { status }]) => [name, status]),
    ),
    non_claims: [],
    end,
  } as const;
  const manifest = startManifest({
    producer: { name: 'assay', version: '0.1.0' },
    runId: runIdOf(hex),
    sandbox,
  });
  const counts = { fs_count: 0, exec_count: 0, net_count: 0, refusal_count: 0 };
  const events = [
    started({
      command,
      network: draft.network ?? 'private',
      run_digest: sandbox.run_digest,
      identity: computeIdentity(manifest),
    }),
    policyEvent(content, digest),
    draft.environment ?? environment(['HOME', 'PATH'], ['API_TOKEN']),
    draft.layers ?? layers({ landlock: 'enforced', mount: 'enforced' }),
    ...degradations,
    ...lines,
    ...ofLines.filter(isSystem),
    ...all.filter(({ type }) => type === EVENT_TYPES.change),
    watched,
    {
      type: EVENT_TYPES.summary,
      data: {
        command,
        counters: {},
        notes: [],
        ...counts,
        degradation_count: 0,
        statements: [],
        controls: {},
        end,
      },
    },
    { type: EVENT_TYPES.codingAgent, data: { coverage: { reads: 'observed', test: 'absent' } } },
    finished(end),
  ];
  const timed = events.map((event, at): TimedDraft => {
    const time = `2026-01-0${day}T00:00:00.${String(at % 1000).padStart(3, '0')}Z`;
    return { time, ...event };
  });
  return collect(writeBundle({ manifest, events: timed, spool: new MemorySpool() }).archive);
}

function toLine({ data }: EventDraft): CanonicalLine {
  const {
    op,
    path,
    target,
    outcome,
    program: by,
    refused_by: refusedBy,
    digest,
  } = data as LineData;
  return { op, path, target, outcome, program: by, refusedBy, digest };
}
