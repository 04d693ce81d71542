import { type Judgement, MalformedDocument, malformed } from './judgement.ts';
import { isObject, type JsonObject } from './shape.ts';
import { computeUpstreamRunId, type UpstreamDegradation } from './upstream-run-id.ts';

interface SandboxEvent {
  readonly type: string;
  readonly subject: string | undefined;
  readonly runId: string | undefined;
  /** Called `payload` by some, `data` by others. */
  readonly body: JsonObject;
}

export interface EventsOptions {
  readonly isDegradedAllowed: boolean;
}

/**
 * Events of a sandboxed run, as a list or under `events`. Degraded runs fail; a document that has no event of a sandbox
 * is no evidence of one, and does not pass either.
 */
export function judgeSandboxEvents(value: unknown, options: EventsOptions): Judgement {
  const list = Array.isArray(value) ? value : (value as { events: unknown }).events;
  if (!Array.isArray(list)) throw new MalformedDocument('events is not a list');
  const events = list.map(readEvent);
  const ofSandbox = events.filter(({ type }) => type.startsWith('assay.sandbox.'));
  if (ofSandbox.length === 0) {
    const what = events.length === 0 ? 'no event at all' : 'no event of a sandbox';
    return malformed('sandbox-events', `There is ${what}, so nothing can be said of a run`, {
      events: events.length,
    });
  }
  const report = summarise(ofSandbox);
  const announced = findBody(events, 'assay.sandbox.summary')?.['degradation_count'];
  if (typeof announced === 'number' && announced > report.degradations)
    throw new MalformedDocument(
      `the summary counts ${announced} degradations, and ${report.degradations} are there`,
    );
  const isDegraded = report.degradations > 0;
  return {
    kind: 'sandbox-events',
    verdict: isDegraded && !options.isDegradedAllowed ? 'fail' : 'pass',
    reason: isDegraded
      ? `The run was degraded: ${describeDegradations(ofSandbox)}`
      : 'Nothing in it says that the run was degraded',
    signals: checkRunId(events),
    report: { ...report },
  };
}

function readEvent(event: unknown, index: number): SandboxEvent {
  const at = `events[${index}]`;
  if (!isObject(event)) throw new MalformedDocument(`${at} is not an object`);
  const { type, subject, payload, data = payload ?? {}, assayrunid } = event;
  if (typeof type !== 'string' || type === '')
    throw new MalformedDocument(`${at}.type is not a text`);
  if (subject !== undefined && subject !== null && typeof subject !== 'string')
    throw new MalformedDocument(`${at}.subject is not a text`);
  if (type.startsWith('assay.sandbox.') && !isObject(data))
    throw new MalformedDocument(`${at} has no object as its data or payload`);
  return {
    type,
    subject: subject ?? undefined,
    runId: typeof assayrunid === 'string' ? assayrunid : undefined,
    body: isObject(data) ? data : {},
  };
}

interface Summary {
  readonly fs_ops: number;
  readonly fs_by_op: Readonly<Record<string, number>>;
  readonly execs: number;
  readonly degradations: number;
  readonly subjects: { readonly fs: readonly string[]; readonly exec: readonly string[] };
}

function summarise(events: readonly SandboxEvent[]): Summary {
  const byOp = new Map<string, number>();
  const subjects = { fs: new Set<string>(), exec: new Set<string>() };
  const counts = { fs: 0, exec: 0, degraded: 0 };
  for (const { type, subject, body } of events) {
    if (type === 'assay.sandbox.fs') {
      counts.fs++;
      const op = textOf(body['op']) ?? 'unknown';
      byOp.set(op, (byOp.get(op) ?? 0) + 1);
      addText(subjects.fs, subject ?? body['path']);
    } else if (type === 'assay.sandbox.exec') {
      counts.exec++;
      addText(subjects.exec, subject ?? body['argv0']);
    } else if (type === 'assay.sandbox.degraded') counts.degraded++;
  }
  return {
    fs_ops: counts.fs,
    fs_by_op: Object.fromEntries([...byOp].sort(([a], [b]) => (a < b ? -1 : 1))),
    execs: counts.exec,
    degradations: counts.degraded,
    subjects: { fs: [...subjects.fs].sort(), exec: [...subjects.exec].sort() },
  };
}

function describeDegradations(events: readonly SandboxEvent[]): string {
  const reasons = events
    .filter(({ type }) => type === 'assay.sandbox.degraded')
    .map(({ body }) =>
      [body['component'], body['detail'] ?? body['reason'] ?? body['reason_code']]
        .filter((part) => typeof part === 'string')
        .join(': '),
    );
  return [...new Set(reasons)].filter((reason) => reason !== '').join('; ') || 'no reason given';
}

/** The older format makes its run id of what is in the events, so that it can be made again. */
function checkRunId(events: readonly SandboxEvent[]): string[] {
  const summary = events.find(({ type }) => type === 'assay.sandbox.summary');
  const runId = summary?.runId;
  // Bundles of this assay start with another event, and `assay evidence verify` checks their id.
  if (summary === undefined || runId === undefined || events[0] !== summary) return [];
  const { command, counters = {}, notes = [] } = summary.body;
  if (!isTexts(command) || !isTexts(notes) || !isObject(counters)) return [];
  const bodies = (type: string): JsonObject[] =>
    events.filter((event) => event.type === type).map(({ body }) => body);
  const expected = computeUpstreamRunId({
    command,
    notes,
    counters: counters as Record<string, number>,
    execs: Object.fromEntries(
      bodies('assay.sandbox.exec').map(({ argv0, hits }) => [String(argv0), Number(hits)]),
    ),
    fs: bodies('assay.sandbox.fs').map(({ op, path, backend }) => [
      String(op),
      String(path),
      String(backend),
    ]),
    degradations: bodies('assay.sandbox.degraded') as unknown as UpstreamDegradation[],
  });
  return expected === runId
    ? []
    : [`The run id is ${runId}; of these events it would be ${expected}`];
}

function findBody(events: readonly SandboxEvent[], type: string): JsonObject | undefined {
  return events.find((event) => event.type === type)?.body;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function addText(set: Set<string>, value: unknown): void {
  if (typeof value === 'string') set.add(value);
}
