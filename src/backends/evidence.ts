import { resolve } from 'node:path';
import { BundleFile } from '../artifacts/bundle-file.ts';
import { redactArgv, redactHost, redactPath } from '../core/redact.ts';
import { generaliseRun } from '../evidence/general-run.ts';
import { normalise } from '../evidence/normalise/normalise.ts';
import { computeRunId } from '../evidence/run-id.ts';
import type { RunRecord } from '../evidence/run-record.ts';
import type { Coverage as RecordCoverage, Event, SurfaceCoverage } from '../observe/event.ts';
import type { FsRight, FsRule, NetRule, Policy, Variables } from '../policy/policy.ts';
import type { BackendId, Coverage, Surface } from './backend.ts';
import { SandboxError } from './sandbox-error.ts';
import type { Denial, ExecEvidence, ExecOptions, Outcome } from './sandbox.ts';
import { type SandboxSpec, WORKSPACE } from './spec.ts';
import { toExitCode } from './exit-code.ts';

/** What `${CWD}`, `${HOME}` and `${TMPDIR}` stand for in the record of a sandbox. */
export const INSIDE: Variables = {
  cwd: WORKSPACE,
  home: '/tmp',
  tmpdir: '/tmp',
  user: 'sandbox',
};

/** What a backend that does not watch knows of a call. */
export interface KnownCall {
  readonly backend: BackendId;
  readonly spec: SandboxSpec;
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  /** Names of the variables that the program has found. */
  readonly environment: readonly string[];
  readonly outcome: Outcome;
  readonly denials: readonly Denial[];
  /** Connections that went through a door of assay, refused ones included. */
  readonly connections?: readonly KnownConnection[] | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  /** As in the guarantees. What is complete there has to be in `connections` and `denials`. */
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  /** For each surface that is not complete. */
  readonly reasons: Readonly<Partial<Record<Surface, string>>>;
}

export interface KnownConnection {
  readonly host: string;
  readonly port: number;
  /** `ok`, or the name of an errno. */
  readonly outcome: string;
  readonly rule: string | null;
}

/** The number of the program that was started; 0 is assay. */
const COMMAND = 1;

/**
 * The command as it is recorded. Code that was handed over is part of what ran: its digest stands behind the arguments, so
 * that runs of other code are other runs.
 */
export function toRecordedCommand(
  argv: readonly string[],
  codeSha256: string | undefined,
): string[] {
  const digest = codeSha256 === undefined ? [] : [`code:sha256:${codeSha256}`];
  return [...redactArgv(argv), ...digest];
}

function toSurface(status: Coverage, reason: string | undefined): SurfaceCoverage {
  return { status, reasons: status === 'complete' ? [] : [reason ?? 'not watched here'] };
}

function toRecordCoverage({ coverage, reasons }: KnownCall): RecordCoverage {
  const { files, programs, network, environment } = coverage;
  return {
    reads: toSurface(files, reasons.files),
    changes: toSurface(files, reasons.files),
    programs: toSurface(programs, reasons.programs),
    network: toSurface(network, reasons.network),
    environment: toSurface(environment, reasons.environment),
  };
}

function toNetworkEvents({ connections = [] }: KnownCall): Event[] {
  const counts = new Map<string, { one: KnownConnection; count: number }>();
  for (const one of connections) {
    const key = JSON.stringify([one.host, one.port, one.outcome, one.rule]);
    counts.set(key, { one, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return Array.from(counts.values(), ({ one, count }) => ({
    kind: 'network',
    op: 'connect',
    family: 'tcp',
    host: redactHost(one.host),
    port: one.port,
    basis: 'performed',
    outcome: one.outcome,
    program: COMMAND,
    count,
    atMs: 0,
    ...(one.outcome === 'EACCES' && {
      decision: { rule: cleanRule(one), layer: 'egress' as const },
    }),
  }));
}

function cleanRule({ rule }: KnownConnection): string | null {
  return rule === null ? null : redactPath(rule);
}

/** Of a run that nobody watched but through doors: the command, how it ended, and what is known besides. */
function toRunRecord(call: KnownCall): RunRecord {
  const { outcome } = call;
  const exitCode = toExitCode(outcome);
  return {
    command: toRecordedCommand(call.argv, call.options.codeSha256),
    level: 'none',
    events: [
      ...toNetworkEvents(call),
      ...call.environment.map((name) => ({
        kind: 'environment' as const,
        op: 'passed' as const,
        name,
      })),
      ...(outcome.kind === 'limit' ? [{ kind: 'limit' as const, limit: outcome.limit }] : []),
    ],
    programs: [
      {
        id: COMMAND,
        parent: 0,
        image: redactPath(call.argv[0] ?? ''),
        count: 1,
        atMs: 0,
        commands: [redactArgv(call.argv)],
      },
    ],
    coverage: toRecordCoverage(call),
    end: {
      exitCode,
      signal: outcome.kind === 'signaled' ? exitCode - 128 : 0,
      isTimedOut: outcome.kind === 'timeout',
      limit: outcome.kind === 'limit' ? outcome.limit : '',
      execError: outcome.kind === 'refused' ? 'it could not be executed' : undefined,
    },
    variables: INSIDE,
    privateTmp: ['/tmp'],
    uid: 0,
    startedMs: call.startedMs,
    launchedMs: call.startedMs,
    endedMs: call.endedMs,
    pids: [],
    finalStates: new Map(),
    movedContents: new Map(),
    hidden: [],
    policy: { name: `sandbox ${call.backend}`, isDefault: false },
    mode: 'containment',
    network: call.spec.network === undefined || call.spec.network === 'none' ? 'none' : 'private',
    layers: [{ layer: call.backend, status: 'enforced', reason: '' }],
    environment: { passed: [...call.environment], removed: [] },
    overflow: [],
  };
}

/** What was asked for, in the words of a policy. */
function toPolicy({ backend, spec, options }: KnownCall): Policy {
  const source = `sandbox ${backend}`;
  const isWritable = spec.workspace?.mode !== 'ro';
  const rule = (pattern: string, rights: readonly FsRight[]): FsRule => ({
    effect: 'allow',
    rights,
    pattern,
    origin: { source, key: 'fs', text: pattern },
  });
  const { network } = spec;
  const toNet = (effect: NetRule['effect'], text: string): NetRule => ({
    effect,
    text,
    origin: { source, key: `net.${effect}`, text },
  });
  const named = network === undefined || network === 'none' ? { allow: [] } : network;
  const limits = { ...spec.limits, ...options.limits };
  return {
    name: source,
    isDefault: false,
    fs: [
      rule('/', ['read', 'exec']),
      rule(WORKSPACE, isWritable ? ['read', 'write', 'exec'] : ['read', 'exec']),
      rule('/tmp', ['read', 'write', 'exec']),
    ],
    net: [
      ...named.allow.map((text) => toNet('allow', text)),
      ...(named.deny ?? []).map((text) => toNet('deny', text)),
    ],
    inject: [],
    unix: [],
    env: {
      mode: 'strict',
      isExecStripped: false,
      isPathSafe: false,
      allow: [],
      deny: [],
      set: {},
    },
    limits: {
      timeoutMs: limits.wallMs,
      cpuMs: limits.cpuMs,
      memoryBytes: limits.memoryBytes,
      pids: limits.pids,
      diskBytes: limits.diskBytes,
      files: limits.inodes,
      openFiles: limits.openFiles,
    },
  };
}

export interface SealInput {
  readonly record: RunRecord;
  readonly policy: Policy;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  readonly options: Pick<ExecOptions, 'bundle' | 'codeSha256'>;
}

/** The evidence of a call: its id, and its bundle where one was asked for. A bundle that cannot be written is an error. */
export async function sealEvidence({
  record,
  policy,
  coverage,
  options,
}: SealInput): Promise<ExecEvidence> {
  const { codeSha256 } = options;
  // The rest of what a record says takes longer to make, and only a bundle has it.
  const { runId } = computeRunId(record, normalise(record));
  const evidence = {
    runId,
    coverage,
    ...(codeSha256 !== undefined && { codeSha256 }),
  };
  if (options.bundle === undefined) return evidence;
  const path = resolve(options.bundle);
  try {
    const file = new BundleFile({ path, policy, variables: INSIDE });
    try {
      const { sha256 } = await file.write(generaliseRun(record, { name: 'sandbox' }));
      return { ...evidence, bundle: { path: options.bundle, sha256 } };
    } finally {
      file.close();
    }
  } catch (cause) {
    throw new SandboxError(
      'evidence_write_failed',
      `Cannot write the evidence to "${path}": ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** The evidence of a call that a backend did not watch itself. */
export async function makeEvidence(call: KnownCall): Promise<ExecEvidence> {
  const { coverage, options } = call;
  return await sealEvidence({
    record: toRunRecord(call),
    policy: toPolicy(call),
    coverage,
    options,
  });
}
