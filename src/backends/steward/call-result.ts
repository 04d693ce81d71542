import type { ConnectionFact } from '../../egress/egress.ts';
import type { BackendId, Coverage, LimitName, Surface } from '../backend.ts';
import { type KnownConnection, makeEvidence } from '../evidence.ts';
import { toExitCode } from '../exit-code.ts';
import type { Denial, ExecOptions, ExecResult } from '../sandbox.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';
import { type OwnCause, toOutcome } from './outcome.ts';
import type { CallEnd } from './steward-call.ts';

/** What was asked for with a call. */
export interface AskedCall {
  readonly backend: BackendId;
  readonly spec: SandboxSpec;
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  readonly env: Readonly<Record<string, string>>;
  /** As they hold for it. */
  readonly limits: SandboxLimits;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
}

/** What came of it. */
export interface Ending {
  /** Undefined when the container went away meanwhile. */
  readonly end: CallEnd | undefined;
  readonly cause: OwnCause | undefined;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  /** By the clock. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly denials: readonly Denial[];
  readonly connections: readonly KnownConnection[];
}

const REASONS = {
  files: 'nobody watches files inside of a container',
  programs: 'nobody watches programs inside of a container',
} as const;

/** Of a call that was aborted before anything ran. */
export const NOTHING_RAN: Ending & { readonly end: CallEnd } = {
  end: {
    kind: 'signaled',
    value: 9,
    cause: 'none',
    reached: [],
    cpuMs: 0,
    maxMemoryBytes: 0,
    diskBytes: 0,
    dropped: { stdout: 0, stderr: 0 },
  },
  cause: 'aborted',
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  dropped: { stdout: 0, stderr: 0 },
  startedMs: 0,
  durationMs: 0,
  denials: [],
  connections: [],
};

export function toConnection({ destination, verdict, outcome }: ConnectionFact): KnownConnection {
  const { name, address = '', port } = destination;
  return {
    host: name ?? address,
    port,
    outcome: outcome === 'refused' ? 'EACCES' : outcome,
    rule: verdict.rule,
  };
}

/** `hasUsage` is false where nobody was left to say what was used. */
export async function makeResult(
  asked: AskedCall,
  ending: Ending & { readonly end: CallEnd },
  hasUsage: boolean,
): Promise<ExecResult> {
  const { argv, limits, options, coverage, spec, backend } = asked;
  const { end, cause, stdout, stderr, denials, connections } = ending;
  const outcome = toOutcome({ end, argv, limits, cause });
  const reached = new Set<LimitName>(end.reached);
  if (outcome.kind === 'limit') reached.add(outcome.limit);
  if (ending.dropped.stdout + ending.dropped.stderr > 0) reached.add('outputBytes');
  const { cpuMs, maxMemoryBytes, diskBytes } = end;
  const startedMs = ending.startedMs;
  const durationMs = Math.round(ending.durationMs);
  return {
    outcome,
    isOk: outcome.kind === 'exited' && outcome.exitCode === 0,
    exitCode: toExitCode(outcome),
    stdout,
    stderr,
    truncated: ending.dropped,
    durationMs,
    usage: hasUsage ? { cpuMs, maxMemoryBytes, diskBytes } : {},
    denials,
    reached: [...reached],
    evidence: await makeEvidence({
      backend,
      spec,
      argv,
      options,
      environment: Object.keys(asked.env).toSorted(),
      outcome,
      denials,
      connections,
      startedMs,
      endedMs: startedMs + durationMs,
      coverage,
      reasons: REASONS,
    }),
  };
}
