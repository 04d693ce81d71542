import type { ConnectionFact } from '../../egress/egress.ts';
import { type KnownConnection, makeEvidence } from '../evidence.ts';
import type { Denial, ExecEvidence, ExecOptions, Outcome } from '../sandbox.ts';
import type { SandboxSpec } from '../spec.ts';
import { MICROVM_GUARANTEES } from './guarantees.ts';

const UNSEEN = 'what happens inside a guest is not watched from outside';

export interface AttestedCall {
  readonly spec: SandboxSpec;
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  readonly env: Readonly<Record<string, string>>;
  readonly startedMs: number;
  readonly outcome: Outcome;
  readonly denials: readonly Denial[];
  readonly connections: readonly ConnectionFact[];
}

function toKnown({ destination, outcome, verdict }: ConnectionFact): KnownConnection {
  const { name, address, port } = destination;
  return {
    host: name ?? address ?? '',
    port,
    outcome: outcome === 'refused' ? 'EACCES' : outcome,
    rule: verdict.rule,
  };
}

/** The evidence of a call: the command, how it ended, its environment by name, and what went through the door. */
export async function attestCall(call: AttestedCall): Promise<ExecEvidence> {
  const { spec, argv, options, startedMs, outcome, denials } = call;
  return await makeEvidence({
    backend: 'microvm',
    spec,
    argv,
    options,
    environment: Object.keys(call.env).toSorted(),
    outcome,
    denials,
    connections: call.connections.map(toKnown),
    startedMs,
    endedMs: Date.now(),
    coverage: MICROVM_GUARANTEES.coverage,
    reasons: { files: UNSEEN, programs: UNSEEN },
  });
}
