import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import { ALGORITHMS, BUNDLE_FORMAT } from '../../../src/evidence/bundle/bundle.ts';
import { EVENT_TYPES } from '../../../src/evidence/bundle/event-data.ts';
import type { Finding } from '../../../src/evidence/lint/finding.ts';
import { type LintResult, makeResult } from '../../../src/evidence/lint/lint-result.ts';
import { Linter } from '../../../src/evidence/lint/linter.ts';
import { makePackDetector } from '../../../src/evidence/lint/pack-detector.ts';
import { readPack } from '../../../src/evidence/lint/read-pack.ts';
import { OWN_PACK } from '../../../src/evidence/lint/rule.ts';
import { DETECTORS, OWN_RULES } from '../../../src/evidence/lint/rules.ts';

export interface Draft {
  readonly type: string;
  readonly subject?: string;
  readonly data?: unknown;
  readonly source?: string;
  readonly assaypii?: boolean;
  readonly assaysecrets?: boolean;
}

export interface LintOptions {
  /** Whether it is a bundle of ours; it is if not said. */
  readonly isSandbox?: boolean;
  /** Texts of packs. */
  readonly packs?: readonly string[];
  readonly maxResults?: number;
  readonly failOn?: LintResult['failOn'];
  readonly file?: string;
}

const RUN_ID = 'sandbox_0123456789abcdef';

function toEvent(draft: Draft, seq: number): BundleEvent {
  return {
    specversion: '1.0',
    source: 'urn:assay:sandbox',
    id: `${RUN_ID}:${seq}`,
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    assayrunid: RUN_ID,
    assayseq: seq,
    assayproducer: 'assay',
    assayproducerversion: '0.1.0',
    assaygit: 'unknown',
    assaypii: false,
    assaysecrets: false,
    assaycontenthash: `sha256:${'0'.repeat(64)}`,
    data: {},
    ...draft,
  };
}

function makeManifest(isSandbox: boolean, count: number): BundleManifest {
  const digest = `sha256:${'1'.repeat(64)}`;
  return {
    schema_version: 1,
    bundle_id: digest,
    producer: { name: 'assay', version: '0.1.0' },
    run_id: RUN_ID,
    event_count: count,
    run_root: digest,
    algorithms: ALGORITHMS,
    files: { 'events.ndjson': { path: 'events.ndjson', sha256: digest, bytes: 100 } },
    ...(isSandbox && {
      sandbox: {
        format: BUNDLE_FORMAT,
        run_digest: digest,
        policy: { name: 'coding-agent', digest },
        mode: 'containment',
        level: 'all',
        coverage: {},
        non_claims: [],
        end: { exit_code: 0, signal: 0, timed_out: false, limit: null, exec_error: null },
      },
    }),
  };
}

/** Lints events that were never in an archive. */
export function lintEvents(events: Iterable<Draft>, options: LintOptions = {}): LintResult {
  const { isSandbox = true, packs = [], maxResults = 500, failOn = 'error' } = options;
  const loaded = packs.map((text) => makePackDetector(readPack(text, 'pack.yaml')));
  const linter = new Linter([...DETECTORS, ...loaded.map(({ detector }) => detector)]);
  const manifest = makeManifest(isSandbox, 1);
  linter.onManifest(manifest);
  let seq = 0;
  for (const event of events) {
    linter.onEvent(toEvent(event, seq), seq + 1);
    seq++;
  }
  return makeResult({
    file: options.file ?? 'run.bundle.tar.gz',
    version: '0.1.0',
    manifest,
    kind: isSandbox ? 'sandbox' : 'upstream',
    sha256: '2'.repeat(64),
    packs: [{ id: OWN_PACK, rules: OWN_RULES, skipped: [] }, ...loaded.map(({ linted }) => linted)],
    findings: linter.finish(),
    maxResults,
    failOn,
  });
}

export function findingsOf(result: LintResult, id: string): readonly Finding[] {
  return result.findings.filter(({ rule }) => rule.id === id);
}

interface Line {
  readonly op: string;
  readonly path: string;
  readonly target?: string;
  readonly outcome?: string;
  readonly program?: string;
  readonly refused_by?: string;
}

function line(type: string, data: Line): Draft {
  return { type, subject: data.path, data: { outcome: 'ok', program: '/usr/bin/sh', ...data } };
}

export const fs = (op: string, path: string, rest: Partial<Line> = {}): Draft =>
  line(EVENT_TYPES.fs, { op, path, ...rest });

export const net = (path: string, rest: Partial<Line> = {}): Draft =>
  line(EVENT_TYPES.net, { op: 'connect', path, ...rest });

export const run = (path: string, rest: Partial<Line> = {}): Draft =>
  line(EVENT_TYPES.exec, { op: 'run', path, program: 'assay', ...rest });

export const folded = (op: string, path: string): Draft =>
  line(EVENT_TYPES.folded, { op: `overflow ${op}`, path });

export const changed = (change: string, path: string): Draft => ({
  type: EVENT_TYPES.change,
  subject: path,
  data: { change, path },
});

export const coverage = (status: string, but: Readonly<Record<string, string>> = {}): Draft => ({
  type: EVENT_TYPES.coverage,
  data: {
    surfaces: Object.fromEntries(
      ['reads', 'changes', 'programs', 'network', 'environment'].map((surface) => [
        surface,
        { status: but[surface] ?? status, reasons: [] },
      ]),
    ),
  },
});

export const started = (rest: Readonly<Record<string, unknown>> = {}): Draft => ({
  type: EVENT_TYPES.started,
  data: { mode: 'containment', network: 'none', ...rest },
});

export const stated = (...statements: readonly string[]): Draft => ({
  type: EVENT_TYPES.summary,
  data: { statements },
});

export const claimed = (claims: Readonly<Record<string, string>>): Draft => ({
  type: EVENT_TYPES.codingAgent,
  data: { coverage: claims },
});
