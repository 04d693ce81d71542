import type { EndData, LineData } from '../../../src/evidence/bundle/event-data.ts';
import { EVENT_TYPES } from '../../../src/evidence/bundle/event-data.ts';
import { computeIdentity } from '../../../src/evidence/bundle/content-hash.ts';
import {
  BUNDLE_FORMAT,
  type BundleManifest,
  type SandboxIdentity,
} from '../../../src/evidence/bundle/bundle.ts';
import {
  startManifest,
  writeBundle,
  type BundleDraft,
  type EventDraft,
  type EventSpool,
} from '../../../src/evidence/bundle/write-bundle.ts';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import { RunDigest, runIdOf } from '../../../src/evidence/run-digest.ts';

export class MemorySpool implements EventSpool {
  readonly #chunks: Uint8Array[] = [];

  write(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  read(): Iterable<Uint8Array> {
    return this.#chunks;
  }
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const TIME = '2026-01-02T03:04:05.678Z';
const COMMAND = ['make', '-j2'];
const END: EndData = {
  exit_code: 0,
  signal: 0,
  timed_out: false,
  limit: null,
  exec_error: null,
};
const POLICY = { version: 1, fs: { allow: ['${CWD}/**'] }, net: { allow: [] } };
const COVERAGE = { files: 'complete', network: 'complete', programs: 'complete' };

/** Lines of a run that read `count` files; everything else is there once. */
function* listLines(count: number): Generator<EventDraft & { readonly data: LineData }> {
  yield fact(EVENT_TYPES.net, {
    op: 'connect',
    path: 'tcp:192.0.2.1:443',
    outcome: 'EACCES',
    program: '/usr/bin/curl',
    refused_by: 'net.deny: *',
  });
  for (let at = 0; at < count; at += 1)
    yield fact(EVENT_TYPES.fs, {
      op: 'read',
      path: `\${CWD}/src/module-${String(at).padStart(7, '0')}/some-file.ts`,
      outcome: 'ok',
      program: '/usr/bin/make',
      backend: 'broker',
    });
  yield fact(EVENT_TYPES.exec, {
    op: 'run',
    path: '/usr/bin/make',
    outcome: 'ok',
    program: 'assay',
    argv0: '/usr/bin/make',
  });
}

function fact<T extends LineData>(type: string, data: T): EventDraft & { readonly data: T } {
  return { type, time: TIME, subject: data.path, data };
}

/** A run in the shape in which assay records one, made up. */
export function makeSampleDraft({
  fileCount = 3,
  producer = { name: 'assay', version: '0.1.0' },
}: { fileCount?: number; producer?: BundleManifest['producer'] } = {}): BundleDraft {
  const digest = new RunDigest({
    command: COMMAND,
    degradations: ['network: the host network is allowed as a whole'],
    end: { execError: '', exitCode: 0, isTimedOut: false, limit: '', signal: 0 },
  });
  for (const { data } of listLines(fileCount)) {
    const { op, path, outcome, program, refused_by: refusedBy } = data;
    digest.add({ op, path, outcome, program, refusedBy });
  }
  const hex = digest.finish();
  const sandbox: SandboxIdentity = {
    format: BUNDLE_FORMAT,
    run_digest: `sha256:${hex}`,
    policy: { name: 'coding-agent', digest: `sha256:${sha256Hex(canonicalJson(POLICY))}` },
    mode: 'containment',
    level: 'all',
    coverage: COVERAGE,
    non_claims: ['what a program computed is not recorded'],
    end: END,
  };
  const manifest = startManifest({ producer, runId: runIdOf(hex), sandbox });
  return { manifest, spool: new MemorySpool(), events: listEvents(manifest, sandbox, fileCount) };
}

function* listEvents(
  manifest: BundleDraft['manifest'],
  sandbox: SandboxIdentity,
  fileCount: number,
): Generator<EventDraft> {
  const state = (type: string, data: unknown): EventDraft => ({ type, time: TIME, data });
  yield state(EVENT_TYPES.started, {
    profile_name: 'run',
    profile_version: '1.0',
    total_runs_aggregated: 1,
    version: '0.1.0',
    command: COMMAND,
    mode: sandbox.mode,
    level: sandbox.level,
    network: 'none',
    run_digest: sandbox.run_digest,
    identity: computeIdentity(manifest),
  });
  yield state(EVENT_TYPES.policy, {
    ...sandbox.policy,
    default: false,
    policy: POLICY,
    toolchain: [],
  });
  yield state(EVENT_TYPES.environment, { passed: ['HOME', 'PATH'], removed: ['API_TOKEN'] });
  yield state(EVENT_TYPES.layers, {
    layers: [{ layer: 'landlock', status: 'enforced', reason: '' }],
  });
  yield state(EVENT_TYPES.degraded, {
    reason_code: 'rule_not_enforced',
    degradation_mode: 'recorded',
    component: 'network',
    detail: 'the host network is allowed as a whole',
  });
  yield* listLines(fileCount);
  for (const name of ['a', 'b'])
    yield fact(EVENT_TYPES.fs, {
      op: 'read',
      path: `/usr/lib/${name}.so`,
      outcome: 'ok',
      program: '/usr/bin/make',
      backend: 'broker',
      system: true,
    } as LineData);
  yield state(EVENT_TYPES.change, { change: 'created', path: '${CWD}/out.o' });
  yield state(EVENT_TYPES.coverage, {
    surfaces: Object.fromEntries(
      Object.entries(COVERAGE).map(([name, status]) => [name, { status, reasons: [] }]),
    ),
  });
  yield state(EVENT_TYPES.summary, {
    command: COMMAND,
    counters: {},
    notes: [],
    fs_count: fileCount,
    exec_count: 1,
    net_count: 1,
    refusal_count: 1,
    degradation_count: 1,
    controls: {},
    statements: ['no file outside the workspace was changed'],
    end: END,
  });
  yield state(EVENT_TYPES.codingAgent, { coverage: {}, non_claims: [] });
  yield state(EVENT_TYPES.finished, {
    files_count: fileCount,
    network_count: 1,
    processes_count: 1,
    sandbox_degradation_count: 1,
    integrity_scope: null,
    end: END,
  });
}

export async function makeSampleBundle(
  options: Parameters<typeof makeSampleDraft>[0] = {},
): Promise<Buffer> {
  return collect(writeBundle(makeSampleDraft(options)).archive);
}
