import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import { EVENT_TYPES } from '../../../src/evidence/bundle/event-data.ts';
import { compareBundles, type Comparison } from '../../../src/evidence/diff/compare.ts';
import { BASELINE, CANDIDATE, Ledger, type SideBit } from '../../../src/evidence/diff/ledger.ts';
import { type Side, SideReader } from '../../../src/evidence/diff/side.ts';

/** What a test says about an event; the rest is filled in. */
export interface EventDraft {
  readonly type: string;
  readonly subject?: string;
  readonly data: unknown;
}

export interface BundleDraft {
  readonly kind?: 'sandbox' | 'upstream';
  readonly events: readonly EventDraft[];
}

type LineDraft = Readonly<Record<string, unknown>> & { readonly path: string };

function makeLine(type: string, op: string, draft: LineDraft): EventDraft {
  const program = op === 'run' ? 'assay' : '/usr/bin/sh';
  return { type, subject: draft.path, data: { op, outcome: 'ok', program, ...draft } };
}

export function file(op: string, path: string, more: object = {}): EventDraft {
  return makeLine(EVENT_TYPES.fs, op, { path, backend: 'broker', ...more });
}

export function program(path: string, more: object = {}): EventDraft {
  return makeLine(EVENT_TYPES.exec, 'run', { path, argv0: path, ...more });
}

export function network(op: string, path: string, more: object = {}): EventDraft {
  return makeLine(EVENT_TYPES.net, op, { path, ...more });
}

export function folded(op: string, path: string, digest: string): EventDraft {
  return makeLine(EVENT_TYPES.folded, `overflow ${op}`, { path, digest });
}

export function change(what: string, path: string): EventDraft {
  return { type: EVENT_TYPES.change, subject: path, data: { change: what, path } };
}

export function limit(path: string): EventDraft {
  return makeLine(EVENT_TYPES.limit, 'limit', { path, program: 'assay' });
}

export function degraded(component: string, detail: string): EventDraft {
  const data = { component, detail, degradation_mode: 'audit_fallback' };
  return { type: EVENT_TYPES.degraded, data: { ...data, reason_code: 'policy_conflict' } };
}

export function coverage(surfaces: Readonly<Record<string, string>>, reason?: string): EventDraft {
  const reasons = reason === undefined ? [] : [reason];
  const entries = Object.entries(surfaces).map(([name, status]) => [
    name,
    { status, reasons: status === 'complete' ? [] : reasons },
  ]);
  return { type: EVENT_TYPES.coverage, data: { surfaces: Object.fromEntries(entries) as object } };
}

export function layers(status: Readonly<Record<string, string>>): EventDraft {
  const list = Object.entries(status).map(([layer, value]) => ({
    layer,
    status: value,
    reason: value === 'enforced' ? '' : 'not here',
  }));
  return { type: EVENT_TYPES.layers, data: { layers: list } };
}

export function environment(passed: string[], removed: string[] = []): EventDraft {
  return { type: EVENT_TYPES.environment, data: { passed, removed } };
}

export function policy(content: unknown, digest: string, more: object = {}): EventDraft {
  const data = { name: 'p.yaml', default: false, digest, toolchain: [], policy: content };
  return { type: EVENT_TYPES.policy, data: { ...data, ...more } };
}

export function started(more: object = {}): EventDraft {
  const data = {
    profile_name: 'run',
    profile_version: '1.0',
    total_runs_aggregated: 1,
    version: '0.1.0',
    command: ['make', 'test'],
    mode: 'containment',
    level: 'all',
    network: 'private',
    run_digest: 'sha256:00',
    identity: 'sha256:00',
  };
  return { type: EVENT_TYPES.started, data: { ...data, ...more } };
}

export function finished(end: object = {}): EventDraft {
  const plain = { exit_code: 0, signal: 0, timed_out: false, limit: null, exec_error: null };
  return {
    type: EVENT_TYPES.finished,
    data: {
      files_count: 0,
      network_count: 0,
      processes_count: 0,
      sandbox_degradation_count: 0,
      integrity_scope: null,
      end: { ...plain, ...end },
    },
  };
}

/** Complete coverage, so that nothing but what a test is about differs. */
export const WATCHED = coverage({
  reads: 'complete',
  changes: 'complete',
  programs: 'complete',
  network: 'complete',
  environment: 'complete',
});

export function compareDrafts(
  before: BundleDraft | readonly EventDraft[],
  after: BundleDraft | readonly EventDraft[],
): Comparison {
  const ledger = new Ledger();
  const baseline = readDraft(before, ledger, BASELINE);
  return compareBundles(ledger, baseline, readDraft(after, ledger, CANDIDATE));
}

function readDraft(
  given: BundleDraft | readonly EventDraft[],
  ledger: Ledger,
  side: SideBit,
): Side {
  const { kind = 'sandbox', events } = 'events' in given ? given : { events: given };
  const reader = new SideReader(ledger, side);
  for (const [seq, draft] of events.entries()) reader.add(makeEvent(draft, seq, side));
  return reader.finish({ manifest: makeManifest(events), kind, sha256: '0'.repeat(64) });
}

/** Times differ between the two, as they do between runs. */
function makeEvent({ type, subject, data }: EventDraft, seq: number, side: number): BundleEvent {
  return {
    specversion: '1.0',
    type,
    source: 'urn:assay:sandbox',
    id: `run:${seq}`,
    time: `2026-01-0${side}T00:00:00.${String(seq % 1000).padStart(3, '0')}Z`,
    datacontenttype: 'application/json',
    ...(subject !== undefined && { subject }),
    assayrunid: 'run',
    assayseq: seq,
    assayproducer: 'assay',
    assayproducerversion: '0.1.0',
    assaygit: 'unknown',
    assaypii: false,
    assaysecrets: false,
    assaycontenthash: `sha256:${Buffer.from(JSON.stringify(data)).toString('hex').slice(-64)}`,
    data,
  };
}

function makeManifest(events: readonly EventDraft[]): BundleManifest {
  const root = `sha256:${events.length}${JSON.stringify(events).length}`;
  return {
    schema_version: 1,
    bundle_id: root,
    producer: { name: 'assay', version: '0.1.0' },
    run_id: 'sandbox_0123456789abcdef',
    event_count: events.length,
    run_root: root,
    algorithms: { canon: '', hash: '', root: '' },
    files: {},
  };
}
