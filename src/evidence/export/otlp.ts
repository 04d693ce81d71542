import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { type Fact, toFact } from '../bundle/facts.ts';
import { isAddress, parseEndpoint } from './endpoint.ts';
import type { EventSource } from './event-source.ts';
import { fileNameOf } from './file-name.ts';
import { toJsonLine } from './json-line.ts';
import { type AttributeValue, toAttributes, toNanoseconds } from './otlp-value.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';

/** So many spans or records in a request: about a quarter of a megabyte, which receivers take. */
const BATCH = 500;

const INTERNAL = 1;
const STATUS_ERROR = 2;
const SAMPLED = 1;
const SEVERITIES = { info: { number: 9, text: 'INFO' }, warn: { number: 13, text: 'WARN' } };

/**
 * Lines of OTLP/JSON, each a request of its own: first for traces, with a span for the run and one for each program,
 * then for logs, with a record for each event, which belongs to the span of its program.
 */
export function* exportOtlp(source: EventSource): Iterable<string> {
  const spans = collectSpans(source);
  const resource = makeResource(source.manifest);
  const scope = { name: 'assay', version: source.manifest.producer.version };
  for (const batch of inBatches(listSpans(spans, source.manifest)))
    yield toJsonLine({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: batch }] }] });
  for (const batch of inBatches(listRecords(source, spans)))
    yield toJsonLine({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: batch }] }] });
}

interface ProgramSpan {
  /** Of the event that says it ran. */
  readonly eventId: string;
  readonly parent: string;
  readonly start: string;
  /** When something of it was last seen for the first time; it may have gone on. */
  end: string;
  readonly digest: string | undefined;
}

interface Spans {
  /** By image; one that ran more than once is one span. */
  readonly programs: ReadonlyMap<string, ProgramSpan>;
  readonly rootId: string;
  readonly start: string;
  readonly end: string;
  readonly exitCode: number | undefined;
  readonly command: readonly string[];
}

function collectSpans({ manifest, events }: EventSource): Spans {
  const programs = new Map<string, ProgramSpan>();
  const times = { start: '', end: '' };
  const lastSeen = new Map<string, string>();
  let exitCode: number | undefined;
  let command: readonly string[] = [];
  for (const event of events()) {
    const time = event.time;
    if (times.start === '' || isLater(times.start, time)) times.start = time;
    if (times.end === '' || isLater(time, times.end)) times.end = time;
    const fact = toFact(event);
    if (isLine(fact)) {
      const seen = lastSeen.get(fact.program);
      if (seen === undefined || isLater(time, seen)) lastSeen.set(fact.program, time);
    }
    if (fact.kind === 'program' && !programs.has(fact.path))
      programs.set(fact.path, {
        eventId: event.id,
        parent: fact.program,
        start: time,
        end: time,
        digest: fact.digest,
      });
    exitCode ??= readExitCode(event);
    if (command.length === 0) command = readCommand(event);
  }
  for (const [image, program] of programs) {
    const seen = lastSeen.get(image);
    if (seen !== undefined && isLater(seen, program.end)) program.end = seen;
  }
  return { programs, ...times, rootId: spanIdOf(manifest.run_id), exitCode, command };
}

type LineFact = Extract<Fact, { kind: 'file' | 'program' | 'network' | 'limit' | 'folded' }>;

function isLine(fact: Fact): fact is LineFact {
  return ['file', 'program', 'network', 'limit', 'folded'].includes(fact.kind);
}

function isLater(a: string, b: string): boolean {
  return BigInt(toNanoseconds(a)) > BigInt(toNanoseconds(b));
}

function readExitCode({ data }: BundleEvent): number | undefined {
  const code = (data as { end?: { exit_code?: unknown } } | null)?.end?.exit_code;
  return typeof code === 'number' ? code : undefined;
}

function readCommand({ data }: BundleEvent): readonly string[] {
  const command = (data as { command?: unknown } | null)?.command;
  return Array.isArray(command) ? (command as string[]) : [];
}

function makeResource({ producer, run_id, run_root, sandbox }: BundleManifest): object {
  return {
    attributes: toAttributes({
      'service.name': producer.name,
      'service.version': producer.version,
      'assay.run.id': run_id,
      'assay.run.root': run_root,
      'assay.policy.name': sandbox?.policy.name,
      'assay.policy.digest': sandbox?.policy.digest,
      'assay.mode': sandbox?.mode,
      ...Object.fromEntries(
        Object.entries(sandbox?.coverage ?? {}).map(([surface, status]) => [
          `assay.coverage.${surface}`,
          status,
        ]),
      ),
    }),
  };
}

function* listSpans(spans: Spans, { run_id }: BundleManifest): Iterable<object> {
  const traceId = traceIdOf(run_id);
  const { exitCode } = spans;
  yield {
    traceId,
    spanId: spans.rootId,
    flags: SAMPLED,
    name: spans.command.length > 0 ? `run ${fileNameOf(spans.command[0] ?? '')}` : 'run',
    kind: INTERNAL,
    startTimeUnixNano: toNanoseconds(spans.start),
    endTimeUnixNano: toNanoseconds(spans.end),
    attributes: toAttributes({
      'process.command_args': spans.command,
      'process.exit.code': exitCode,
    }),
    status: exitCode === undefined || exitCode === 0 ? {} : { code: STATUS_ERROR },
  };
  for (const [image, program] of spans.programs)
    yield {
      traceId,
      spanId: spanIdOf(program.eventId),
      parentSpanId: parentOf(program.parent, image, spans),
      flags: SAMPLED,
      name: `program ${fileNameOf(image)}`,
      kind: INTERNAL,
      startTimeUnixNano: toNanoseconds(program.start),
      endTimeUnixNano: toNanoseconds(program.end),
      attributes: toAttributes({
        'process.executable.path': image,
        'process.executable.name': fileNameOf(image),
        'assay.executable.digest': program.digest,
        'assay.event.id': program.eventId,
      }),
      status: {},
    };
}

/** A program may start itself, and two may start each other: spans must not go round in a circle. */
function parentOf(parent: string, image: string, { programs, rootId }: Spans): string {
  const seen = new Set<string>();
  for (let at = parent; programs.has(at) && !seen.has(at); at = programs.get(at)?.parent ?? '') {
    if (at === image) return rootId;
    seen.add(at);
  }
  const found = programs.get(parent);
  return found ? spanIdOf(found.eventId) : rootId;
}

function* listRecords({ events }: EventSource, spans: Spans): Iterable<object> {
  for (const event of events()) {
    const fact = toFact(event);
    const owner = isLine(fact) ? spans.programs.get(fact.program) : undefined;
    const isRefused = isLine(fact) && fact.refused_by !== undefined;
    const severity = isRefused || fact.kind === 'degradation' ? SEVERITIES.warn : SEVERITIES.info;
    yield {
      timeUnixNano: toNanoseconds(event.time),
      severityNumber: severity.number,
      severityText: severity.text,
      eventName: event.type,
      body: { stringValue: describeFact(fact) },
      attributes: toAttributes({
        'assay.event.id': event.id,
        'assay.event.kind': fact.kind,
        ...listAttributes(fact, event),
      }),
      flags: SAMPLED,
      traceId: traceIdOf(event.assayrunid),
      spanId: owner ? spanIdOf(owner.eventId) : spans.rootId,
    };
  }
}

function describeFact(fact: Fact): string {
  if (isLine(fact)) return `${fact.op} ${fact.path}: ${fact.outcome}`;
  if (fact.kind === 'change') return `${fact.change} ${fact.path}`;
  if (fact.kind === 'degradation') return `not enforced: ${fact.rule}: ${fact.reason}`;
  return fact.subject === undefined ? fact.type : `${fact.type} ${fact.subject}`;
}

function listAttributes(fact: Fact, event: BundleEvent): Record<string, AttributeValue> {
  if (isLine(fact)) return listLineAttributes(fact);
  if (fact.kind === 'change') return { 'file.path': fact.path, 'assay.change': fact.change };
  if (fact.kind === 'degradation') return { 'assay.rule': fact.rule, 'assay.reason': fact.reason };
  return { 'assay.data': JSON.stringify(event.data) };
}

function listLineAttributes(fact: LineFact): Record<string, AttributeValue> {
  const { op, path, target, outcome, program, refused_by, digest } = fact;
  const base = {
    'assay.op': op,
    'assay.outcome': outcome,
    'assay.target': target,
    'assay.refused': refused_by !== undefined,
    'assay.rule': refused_by,
    'assay.digest': digest,
    ...(fact.kind === 'program'
      ? { 'process.parent.path': program }
      : { 'process.executable.path': program }),
  };
  if (fact.kind === 'network') {
    const { protocol, host, port } = parseEndpoint(path);
    const side = op === 'bind' ? 'local' : 'peer';
    return {
      ...base,
      'assay.endpoint': path,
      'network.transport': protocol === '' || protocol === 'dns' ? undefined : protocol,
      ...nameHost(protocol, host, side),
      [`network.${side}.port`]: port,
    };
  }
  if (fact.kind === 'program') return { ...base, 'process.executable.path': path };
  return { ...base, [fact.kind === 'limit' ? 'assay.limit' : 'file.path']: path };
}

/** The address of a peer is never a name. */
function nameHost(protocol: string, host: string, side: string): Record<string, string> {
  if (protocol === 'dns') return { 'dns.question.name': host };
  const isName = (protocol === 'tcp' || protocol === 'udp') && !isAddress(host);
  return { [isName ? 'server.address' : `network.${side}.address`]: host };
}

function* inBatches(items: Iterable<object>): Iterable<object[]> {
  let batch: object[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
