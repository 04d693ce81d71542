import { describe, expect, it } from 'vitest';
import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import { toFact } from '../../../src/evidence/bundle/facts.ts';
import { ENVELOPE_LIMITS, formatEnvelope } from '../../../src/evidence/signing/dsse.ts';
import {
  RUNTIME_TRACE_TYPE,
  RuntimeTrace,
} from '../../../src/evidence/signing/runtime-trace-predicate.ts';
import { encodeStatement } from '../../../src/evidence/signing/statement.ts';

const MANIFEST = { run_id: 'sandbox_0' } as BundleManifest;

function trace(events: Iterable<readonly [type: string, data: unknown]>): {
  monitorLog: Record<string, unknown> & {
    fileAccess: { name: string; annotations: { op: string } }[];
    assay_omitted: Record<string, number>;
  };
  metadata: unknown;
} {
  const made = new RuntimeTrace();
  for (const [type, data] of events) {
    const event = {
      type,
      data,
      assayseq: 0,
      time: '2026-01-01T00:00:00Z',
    } as unknown as BundleEvent;
    made.add(event, toFact(event));
  }
  return made.toPredicate(MANIFEST) as ReturnType<typeof trace>;
}

function* listMany(count: number): Generator<readonly [string, unknown]> {
  for (let at = 0; at < count; at++) {
    const line = { path: `\${CWD}/${at}`, outcome: 'ok', program: '/usr/bin/make' };
    yield ['assay.sandbox.fs', { op: 'read', ...line }];
    yield ['assay.sandbox.fs', { op: 'write', ...line }];
    yield ['assay.sandbox.net', { ...line, op: 'connect', path: `tcp:192.0.2.1:${at}` }];
    yield ['assay.sandbox.exec', { ...line, op: 'run', argv0: 'x' }];
  }
}

describe('RuntimeTrace', () => {
  it('does not grow with the run, and says what it left out', () => {
    const predicate = trace(listMany(20_000));
    const { fileAccess, process, network, assay_omitted: omitted } = predicate.monitorLog;
    expect(fileAccess.length + (omitted['fileAccess'] ?? 0)).toBe(40_000);
    expect((process as []).length + (omitted['process'] ?? 0)).toBe(20_000);
    expect((network as []).length + (omitted['network'] ?? 0)).toBe(20_000);
    expect(new Set(fileAccess.map(({ annotations }) => annotations.op))).toEqual(
      new Set(['write', 'read']),
    );
    const payload = encodeStatement({
      subjectName: 'x',
      sha256: 'a'.repeat(64),
      predicateType: RUNTIME_TRACE_TYPE,
      predicate: predicate as unknown as Record<string, unknown>,
    });
    const line = formatEnvelope({ payloadType: 't', payload, signatures: [] });
    expect(line.length).toBeLessThan(ENVELOPE_LIMITS.fileBytes / 3);
  });

  it('keeps the order in which entries came, and leaves none out before the last', () => {
    const { fileAccess } = trace(listMany(20_000)).monitorLog;
    const written = fileAccess.filter(({ annotations }) => annotations.op === 'write');
    expect(written.map(({ name }) => name)).toEqual(written.map((_, at) => `\${CWD}/${at}`));
  });

  it('tells connections by address, port and protocol, and other sockets as they are', () => {
    const line = { op: 'connect', outcome: 'EACCES', program: '/usr/bin/curl', refused_by: 'r' };
    const attempt = {
      op: 'connect',
      outcome: 'EACCES',
      refusedBy: 'r',
      invokingProcess: { image: '/usr/bin/curl' },
    };
    const { network } = trace([
      ['assay.sandbox.net', { ...line, path: 'tcp:192.0.2.1:443' }],
      ['assay.sandbox.net', { ...line, path: 'udp:[2001:db8::1]:53' }],
      ['assay.sandbox.net', { ...line, path: 'tcp:127.0.0.1:${PORT}' }],
      ['assay.sandbox.net', { ...line, path: 'unix:${TMPDIR}/s' }],
    ]).monitorLog;
    expect(network).toEqual([
      { ip: '192.0.2.1', port: 443, protocol: 'tcp', ...attempt },
      { ip: '2001:db8::1', port: 53, protocol: 'udp', ...attempt },
      { ip: '127.0.0.1', protocol: 'tcp', ...attempt },
      { endpoint: 'unix:${TMPDIR}/s', ...attempt },
    ]);
  });

  it('takes bundles of the older format, with whatever data they have', () => {
    const odd = [
      'assay.process.exec',
      'assay.sandbox.exec',
      'assay.fs.access',
      'assay.profile.started',
    ];
    const events = odd.flatMap((type) =>
      [null, 1, 'x', [], { image_digests: 'x' }].map((data) => [type, data] as const),
    );
    expect(trace(events).metadata).toEqual({ buildStartedOn: '2026-01-01T00:00:00Z' });
  });
});
