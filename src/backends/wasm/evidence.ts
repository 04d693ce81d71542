import type { Coverage, Surface } from '../backend.ts';
import { makeEvidence } from '../evidence.ts';
import type { Denial, ExecEvidence, ExecOptions, Outcome } from '../sandbox.ts';
import type { SandboxSpec } from '../spec.ts';

/** There is one program and no way to start another, and there is no network: so all of both is known. */
export const COVERAGE: Readonly<Record<Surface, Coverage>> = {
  files: 'absent',
  programs: 'complete',
  network: 'complete',
  environment: 'complete',
};

const REASONS = { files: 'what a program does with the files in memory is not written down' };

export interface AttestedCall {
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  readonly spec: SandboxSpec;
  readonly env: readonly (readonly [string, string])[];
}

export interface CallEnding {
  readonly outcome: Outcome;
  readonly denials: readonly Denial[];
  readonly durationMs: number;
}

export async function attestCall(call: AttestedCall, ending: CallEnding): Promise<ExecEvidence> {
  const endedMs = Date.now();
  const { argv, options, spec, env } = call;
  const { outcome, denials, durationMs } = ending;
  return await makeEvidence({
    backend: 'wasm',
    spec,
    argv,
    options,
    environment: env.map(([name]) => name),
    outcome,
    denials,
    startedMs: endedMs - Math.round(durationMs),
    endedMs,
    coverage: COVERAGE,
    reasons: REASONS,
  });
}
