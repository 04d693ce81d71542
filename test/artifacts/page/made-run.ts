import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import { BUNDLE_FORMAT, type SandboxIdentity } from '../../../src/evidence/bundle/bundle.ts';
import { computeIdentity } from '../../../src/evidence/bundle/content-hash.ts';
import { EVENT_TYPES, type LineData } from '../../../src/evidence/bundle/event-data.ts';
import {
  type EventDraft,
  startManifest,
  writeBundle,
} from '../../../src/evidence/bundle/write-bundle.ts';
import type { Controls } from '../../../src/evidence/evidence.ts';
import { sortLines } from '../../../src/evidence/normalise/canonical-line.ts';
import { RunDigest, runIdOf } from '../../../src/evidence/run-digest.ts';
import { collect, MemorySpool } from '../../evidence/bundle/sample-run.ts';

export type MadeLine = Omit<LineData, 'outcome' | 'program' | 'basis'> & {
  readonly outcome?: string;
  readonly program?: string;
  readonly ms?: number;
};

export interface MadeRun {
  readonly lines: readonly MadeLine[];
  readonly systemReads?: readonly string[];
  readonly changes?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: readonly string[];
  readonly controls?: Controls;
  readonly policyName?: string;
}

const START_MS = Date.parse('2026-01-02T03:04:05.000Z');
const END = { exit_code: 0, signal: 0, timed_out: false, limit: null, exec_error: null };
const SURFACES = ['changes', 'environment', 'network', 'programs', 'reads'];

const HELD: Controls[keyof Controls] = {
  verdict: 'held',
  reasons: [],
  used: [],
  refused: 0,
  coverage: 'complete',
};

function typeOf(op: string): string {
  if (op === 'run') return EVENT_TYPES.exec;
  if (op === 'connect' || op === 'bind') return EVENT_TYPES.net;
  return EVENT_TYPES.fs;
}

function timeAt(ms: number): string {
  return new Date(START_MS + ms).toISOString();
}

/** A bundle of a run that never was: it verifies, whatever its names are. */
export async function makeRunBundle(run: MadeRun): Promise<Buffer> {
  const { command = ['sh', '-c', 'true'], policyName = 'coding-agent' } = run;
  const times = new Map<string, number>();
  const lines = sortLines(
    run.lines.map(({ outcome = 'ok', program = '/usr/bin/sh', refused_by, ms = 0, ...line }) => {
      times.set(`${line.op}\n${line.path}`, ms);
      return { ...line, outcome, program, refusedBy: refused_by };
    }),
  );
  const digest = new RunDigest({
    command,
    degradations: [],
    end: { execError: '', exitCode: 0, isTimedOut: false, limit: '', signal: 0 },
  });
  for (const line of lines) digest.add(line);
  const hex = digest.finish();
  const policy = { version: 1, fs: { write: ['${CWD}'] } };
  const sandbox: SandboxIdentity = {
    format: BUNDLE_FORMAT,
    run_digest: `sha256:${hex}`,
    policy: { name: policyName, digest: `sha256:${sha256Hex(canonicalJson(policy))}` },
    mode: 'containment',
    level: 'all',
    coverage: Object.fromEntries(SURFACES.map((name) => [name, 'complete'])),
    non_claims: ['what a program computed is not recorded'],
    end: END,
  };
  const manifest = startManifest({
    producer: { name: 'assay', version: '0.1.0' },
    runId: runIdOf(hex),
    sandbox,
  });
  const state = (type: string, data: unknown, ms = 0): EventDraft => ({
    type,
    time: timeAt(ms),
    data,
  });
  function* listEvents(): Generator<EventDraft> {
    yield state(EVENT_TYPES.started, {
      profile_name: 'run',
      profile_version: '1.0',
      total_runs_aggregated: 1,
      version: '0.1.0',
      command,
      mode: sandbox.mode,
      level: sandbox.level,
      network: 'none',
      run_digest: sandbox.run_digest,
      identity: computeIdentity(manifest),
    });
    yield state(EVENT_TYPES.policy, { ...sandbox.policy, default: false, policy });
    yield state(EVENT_TYPES.environment, {
      passed: run.environment ?? ['HOME', 'PATH'],
      removed: ['API_TOKEN'],
    });
    yield state(EVENT_TYPES.layers, {
      layers: [{ layer: 'landlock', status: 'enforced', reason: '' }],
    });
    for (const { refusedBy, ...line } of lines) {
      const type = typeOf(line.op);
      const data = {
        ...line,
        ...(refusedBy === undefined ? {} : { refused_by: refusedBy }),
        ...(type === EVENT_TYPES.fs ? { backend: 'broker' } : {}),
        ...(type === EVENT_TYPES.exec ? { argv0: line.path } : {}),
      };
      const time = timeAt(times.get(`${line.op}\n${line.path}`) ?? 0);
      yield { type, time, subject: line.path, data };
    }
    for (const path of run.systemReads?.toSorted() ?? [])
      yield {
        ...state(EVENT_TYPES.fs, {
          op: 'read',
          path,
          outcome: 'ok',
          program: '/usr/bin/sh',
          backend: 'broker',
          system: true,
        }),
        subject: path,
      };
    for (const path of run.changes?.toSorted() ?? [])
      yield state(EVENT_TYPES.change, { change: 'created', path });
    yield state(EVENT_TYPES.coverage, {
      surfaces: Object.fromEntries(
        SURFACES.map((name) => [name, { status: 'complete', reasons: [] }]),
      ),
    });
    yield state(EVENT_TYPES.summary, {
      command,
      counters: {},
      notes: [],
      fs_count: lines.length,
      exec_count: 1,
      net_count: 0,
      refusal_count: lines.filter(({ refusedBy }) => refusedBy !== undefined).length,
      degradation_count: 0,
      controls: run.controls ?? { egress: HELD, writes: HELD, configuration: HELD },
      statements: ['No network connection was made.'],
      end: END,
    });
    yield state(EVENT_TYPES.codingAgent, { coverage: {}, non_claims: [] });
    yield state(EVENT_TYPES.finished, {
      files_count: lines.length,
      network_count: 0,
      processes_count: 1,
      sandbox_degradation_count: 0,
      integrity_scope: null,
      end: END,
    });
  }
  return collect(writeBundle({ manifest, events: listEvents(), spool: new MemorySpool() }).archive);
}
