import type { CanonicalLine } from './normalise/canonical-line.ts';
import type { Normalised } from './normalise/normalise.ts';
import { RunDigest, runIdOf, type RunFrame } from './run-digest.ts';
import type { RunRecord } from './run-record.ts';

export interface RunId {
  /** `sandbox_` and the first 16 digits of the digest. */
  readonly runId: string;
  readonly digest: string;
  /** Of what was read in system directories: beside the id, since it changes with the machine. */
  readonly readsSystemDigest: string;
}

/** Counts, times, process numbers, the host and the environment are not in it. */
export function computeRunId(record: RunRecord, normalised: Normalised): RunId {
  const { exitCode, signal, isTimedOut, limit, execError } = record.end;
  const digest = digestLines(normalised.lines, {
    command: normalised.command,
    degradations: normalised.degradations.map(({ rule, reason }) => `${rule}: ${reason}`),
    end: { execError: execError ?? '', exitCode, isTimedOut, limit, signal },
  });
  return {
    runId: runIdOf(digest),
    digest,
    readsSystemDigest: digestLines(normalised.systemReads),
  };
}

function digestLines(lines: readonly CanonicalLine[], frame?: RunFrame): string {
  const digest = new RunDigest(frame);
  for (const line of lines) digest.add(line);
  return digest.finish();
}
