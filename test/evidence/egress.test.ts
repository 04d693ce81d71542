import { describe, expect, it } from 'vitest';
import { makeReport } from '../../src/artifacts/report-markdown.ts';
import { suggestPolicy } from '../../src/artifacts/suggest-policy.ts';
import type { ConnectionFact, NameTable, Verdict } from '../../src/egress/egress.ts';
import { parseEndpoint } from '../../src/evidence/claims/endpoint.ts';
import { isLoopback } from '../../src/evidence/controls.ts';
import { parseEndpoint as parseExported } from '../../src/evidence/export/endpoint.ts';
import { isLoopbackEndpoint } from '../../src/evidence/lint/place.ts';
import { toLineEvent } from '../../src/evidence/bundle/line-events.ts';
import type { Evidence } from '../../src/evidence/evidence.ts';
import { leadsOut } from '../../src/evidence/diff/places.ts';
import { generaliseRun } from '../../src/evidence/general-run.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import { EgressRecorder } from '../../src/observe/egress-recorder.ts';
import { eventLine, newRecorder, programLine } from '../observe/lines.ts';
import { makeRecord } from './make-record.ts';
import { OPTIONS } from './sample-record.ts';

const ALLOWED = { isAllowed: true, rule: 'policy.yaml:3:5 net.allow: example.org' };
const DENIED = { isAllowed: false, rule: 'policy.yaml:4:5 net.deny: evil.example' };
const UNNAMED = { isAllowed: false, rule: null, hint: '--allow-net other.example:443' };

interface Chance {
  /** What another run has otherwise. */
  readonly fake: string;
  readonly port: number;
  readonly sent: number;
}

function connection(name: string, more: Partial<ConnectionFact>): ConnectionFact {
  return {
    door: 'http',
    destination: { protocol: 'tcp', name, port: 443 },
    verdict: ALLOWED,
    outcome: 'ok',
    sent: 0,
    received: 0,
    startedMs: 0,
    durationMs: 1,
    ...more,
  };
}

/** curl fetches from example.org through both doors, and is refused elsewhere. */
function recordRun({ fake, port, sent }: Chance): RunRecord {
  const recorder = newRecorder();
  const names: NameTable = { addressOf: () => fake, nameOf: () => 'example.org' };
  const decide = (): Verdict => ALLOWED;
  const site = { ranges: ['198.18.0.0/15'], hostPorts: [], names, decide, nowMs: () => sent };
  const log = recorder.openEgress(site, EgressRecorder);
  recorder.feed(
    programLine(1, 0, '/usr/bin/curl') +
      eventLine({ op: 'connect', path: `tcp:${fake}:443`, errno: 115 }) +
      eventLine({ id: 2, op: 'connect', path: 'tcp:127.0.0.1:3128' }) +
      `{"s":[1,${port},"tcp:${fake}:443",1]}\n{"s":[1,${port + 1},"tcp:127.0.0.1:3128",2]}\n`,
  );
  const question = { type: 'A', atMs: 0 };
  log.question({ ...question, name: 'example.org', verdict: ALLOWED, answer: 'NOERROR' });
  log.question({ ...question, name: 'evil.example', verdict: DENIED, answer: 'NXDOMAIN' });
  const address = `192.0.2.${sent % 200}`;
  const ok = { sent, received: 2 * sent, address };
  log.connection(connection('example.org', { ...ok, door: 'transparent', peerPort: port }));
  log.connection(connection('example.org', { ...ok, peerPort: port + 1 }));
  log.connection(connection('other.example', { verdict: UNNAMED, outcome: 'refused' }));
  const { events, programs, egress } = recorder.finish();
  return makeRecord(events, { programs, egress, network: 'private' });
}

const FIRST: Chance = { fake: '198.18.0.7', port: 40_000, sent: 10 };
const SECOND: Chance = { fake: '198.19.3.1', port: 51_234, sent: 77_777 };

function evidenceOf(record: RunRecord): Evidence {
  return makeEvidence(record, { ...OPTIONS, policy: { fs: [] } });
}

describe('evidence of a run with doors', () => {
  const evidence = evidenceOf(recordRun(FIRST));

  it('is equal for equal runs, whatever the ports, the addresses and the bytes', () => {
    const { digest, run_ids: ids } = evidenceOf(recordRun(SECOND));
    expect(ids).toEqual(evidence.run_ids);
    expect(digest).toBe(evidence.digest);
  });

  it('tells each destination once, by its name', () => {
    expect(evidence.entries.network).toEqual({
      'dns:evil.example': { resolve: { EACCES: ['unknown'] } },
      'dns:example.org': { resolve: { ok: ['unknown'] } },
      'tcp:example.org:443': { connect: { ok: ['/usr/bin/curl'] } },
      'tcp:other.example:443': { connect: { EACCES: ['unknown'] } },
    });
  });

  it('has no address inside anywhere', () => {
    expect(JSON.stringify(evidence)).not.toContain('198.18');
    expect(JSON.stringify(evidence)).not.toContain('3128');
  });

  it('says which rule refused, and what would have allowed it', () => {
    expect(evidence.refusals).toMatchObject([
      { op: 'resolve', subject: 'dns:evil.example', rule: 'net.deny: evil.example' },
      { op: 'connect', subject: 'tcp:other.example:443', outcome: 'EACCES', rule: null },
    ]);
    expect(evidence.run.refusals).toMatchObject([
      { subject: 'dns:evil.example', layer: 'egress', hint: null },
      { subject: 'tcp:other.example:443', hint: 'allow it with --allow-net other.example:443' },
    ]);
  });

  it('judges egress', () => {
    expect(evidence.controls.egress).toMatchObject({
      verdict: 'refused attempts',
      used: ['tcp:example.org:443'],
      refused: 2,
    });
  });

  it('keeps bytes, durations and dialled addresses in the run block', () => {
    expect(evidence.run.connections['tcp:example.org:443']).toEqual({
      count: 2,
      refused: 0,
      bytes_sent: 20,
      bytes_received: 40,
      duration_ms: 2,
      addresses: ['192.0.2.10'],
      doors: ['http', 'transparent'],
      rules: [ALLOWED.rule],
      notes: [],
    });
  });

  it('claims no silence where a door was used, or where not all was watched', () => {
    const silence = 'No network connection was made.';
    expect(evidence.statements.join(' ')).not.toContain('connection');
    const quiet = makeRecord([], { network: 'private' });
    expect(evidenceOf(quiet).statements).toContain(silence);
    const network = { status: 'partial', reasons: ['the doors broke down'] } as const;
    const partly = makeRecord([], { coverage: { ...quiet.coverage, network } });
    expect(evidenceOf(partly).statements).not.toContain(silence);
  });

  it('suggests the hosts that were reached, and the address that is not of the internet', () => {
    expect(suggestPolicy([evidence]).policy.net).toEqual({
      allow: ['192.0.2.10:443', 'example.org:443'],
    });
  });

  it('shows traffic in the report', () => {
    const report = makeReport(evidence);
    expect(report).toContain('doors to what the policy allows');
    expect(report).toMatch(/`tcp:example\.org:443` \| 2 \| 0 \| 20 \| 40 \| `192\.0\.2\.10`/);
  });

  it('makes events of the network in a bundle, and an answered question is egress', () => {
    const { normalised } = generaliseRun(recordRun(FIRST), { name: 'x' });
    const options = { timeOf: () => '', digestsOf: () => [] };
    const drafts = normalised.lines.map((line) => toLineEvent(line, options));
    const net = drafts.filter(({ subject = '' }) => /^(?:dns|tcp):/.test(subject));
    expect(net).toHaveLength(4);
    expect(new Set(net.map(({ type }) => type))).toEqual(new Set(['assay.sandbox.net']));
  });

  it('takes no name for loopback that only begins like it', () => {
    expect(leadsOut('tcp:127.example.org:80', 'connect', false)).toBe(true);
    expect(leadsOut('dns:example.org', 'resolve', false)).toBe(true);
    expect(leadsOut('tcp:127.0.0.1:80', 'connect', false)).toBe(false);
    for (const isOwn of [isLoopback, isLoopbackEndpoint]) {
      expect(isOwn('tcp:127.example.org:80')).toBe(false);
      expect(isOwn('tcp:127.0.0.1:80')).toBe(true);
      expect(isOwn('tcp:127.0.0.1:${PORT}')).toBe(true);
    }
  });

  it('keeps the host of a question whole, whatever is in its name', () => {
    expect(parseEndpoint('dns:a.example:53')).toEqual({ family: 'dns', host: 'a.example:53' });
    expect(parseExported('dns:example.org')).toEqual({ protocol: 'dns', host: 'example.org' });
  });
});
