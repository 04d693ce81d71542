import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { BackendId, Coverage, Surface } from '../backend.ts';
import type { Denial, ExecEvidence, ExecOptions, Outcome } from '../sandbox.ts';
import type { SandboxSpec } from '../spec.ts';

export interface KnownConnection {
  readonly host: string;
  readonly port: number;
  /** `ok`, or the name of an errno. */
  readonly outcome: string;
  readonly rule: string | null;
}

export interface KnownCall {
  readonly backend: BackendId;
  readonly spec: SandboxSpec;
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  readonly environment: readonly string[];
  readonly outcome: Outcome;
  readonly denials: readonly Denial[];
  readonly connections?: readonly KnownConnection[] | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  readonly reasons: Readonly<Partial<Record<Surface, string>>>;
}

/** Equal calls have an equal name. */
export async function makeEvidence(call: KnownCall): Promise<ExecEvidence> {
  const { backend, argv, outcome, coverage, options } = call;
  const { codeSha256 } = options;
  const code = codeSha256 === undefined ? {} : { codeSha256 };
  const text = canonicalJson({ backend, argv, outcome, ...code });
  return { runId: createHash('sha256').update(text).digest('hex'), coverage, ...code };
}
