import { describe, expect, it } from 'vitest';
import { exportOtlp } from '../../../src/evidence/export/otlp.ts';
import { toNanoseconds } from '../../../src/evidence/export/otlp-value.ts';
import { spanIdOf, traceIdOf, traceparentOf } from '../../../src/evidence/export/trace-ids.ts';
import { readBack } from './otlp-reader.ts';
import { EVENTS, RUN_ID, SAMPLE } from './sample-bundle.ts';

interface Span {
  readonly name: string;
  readonly spanId: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}
interface LogRecord extends Omit<Span, 'name' | 'status'> {
  readonly eventName: string;
  readonly severityText: string;
  readonly body: { readonly stringValue: string };
}
interface TraceRequest {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly Span[] }[] }[];
}
interface LogsRequest {
  readonly resourceLogs: readonly { scopeLogs: readonly { logRecords: readonly LogRecord[] }[] }[];
}

const requests = [...exportOtlp(SAMPLE)].map(
  (line) => JSON.parse(line) as TraceRequest | LogsRequest,
);
const spans = requests.flatMap((request) =>
  'resourceSpans' in request ? (request.resourceSpans[0]?.scopeSpans[0]?.spans ?? []) : [],
);
const records = requests.flatMap((request) =>
  'resourceLogs' in request ? (request.resourceLogs[0]?.scopeLogs[0]?.logRecords ?? []) : [],
);

describe('exportOtlp()', () => {
  it('writes requests that the published reader reads without loss', () => {
    expect(requests.length).toBe(2);
    for (const request of requests) expect(readBack(request)).toEqual(request);
  });

  it('would notice a name, or a type, that the reader does not know', () => {
    const wrong = { resourceSpans: [{ scopeSpans: [{ spans: [{ nam: 'x' }] }] }] };
    expect(readBack(wrong)).not.toEqual(wrong);
    const late = { resourceSpans: [{ scopeSpans: [{ spans: [{ startTimeUnixNano: 'x' }] }] }] };
    expect(() => expect(readBack(late)).toEqual(late)).toThrow();
  });

  it('has a span for the run, over all of it, with how it ended', () => {
    const [first] = spans;
    expect(first).toMatchObject({
      name: 'run sh',
      startTimeUnixNano: toNanoseconds(EVENTS[0]?.time ?? ''),
      endTimeUnixNano: toNanoseconds(EVENTS.at(-1)?.time ?? ''),
      status: { code: 2 },
    });
    expect(first?.parentSpanId).toBeUndefined();
  });

  it('has one span for each image, below the one that started it, never in a circle', () => {
    const [run, sh, node] = spans;
    expect(spans.map(({ name }) => name)).toEqual(['run sh', 'program sh', 'program node']);
    expect(sh?.parentSpanId).toBe(run?.spanId);
    expect(node?.parentSpanId).toBe(sh?.spanId);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(RUN_ID)]));
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  });

  it('has a record for each event, in the span of its program', () => {
    expect(records.map(({ eventName }) => eventName)).toEqual(EVENTS.map(({ type }) => type));
    const created = records.find(({ body }) => body.stringValue === 'create ${CWD}/new: ok');
    expect(created?.spanId).toBe(spans[2]?.spanId);
    expect(new Set(spans.map(({ spanId }) => spanId))).toEqual(
      new Set(records.map(({ spanId }) => spanId)),
    );
  });

  it('warns of refusals and degradations only', () => {
    const warned = records.filter(({ severityText }) => severityText === 'WARN');
    expect(warned.map(({ body }) => body.stringValue)).toEqual([
      'not enforced: fs.deny: /x: no layer can',
      'connect tcp:192.0.2.1:443: EACCES',
      'exec /usr/bin/sudo: EACCES',
      'unlink ${HOME}/x: EROFS',
      'write ${CWD}/would: ok',
    ]);
  });

  it('keeps each line of a long run short', () => {
    const events = Array.from({ length: 50 }, () => EVENTS).flat();
    const lines = [...exportOtlp({ ...SAMPLE, events: () => events })];
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(line.length).toBeLessThan(1_000_000);
  });
});

describe('ids', () => {
  it('are those of the older format', () => {
    // From a bundle that the older implementation has written.
    expect(traceparentOf('demo-run-1', 'demo-run-1:0')).toBe(
      '00-9399e50e05d442be638914939e0babd6-f658c9a62fadcc51-01',
    );
    expect(spanIdOf('demo-run-1:1')).toBe('77c7d8af5bc74fdf');
  });
});

describe('toNanoseconds()', () => {
  it.each([
    ['1970-01-01T00:00:01Z', '1000000000'],
    ['2026-01-02T03:04:05.123456789Z', '1767323045123456789'],
    ['2026-01-02T03:04:05.5Z', '1767323045500000000'],
  ])('of %s is %s', (time, expected) => {
    expect(toNanoseconds(time)).toBe(expected);
  });
});
