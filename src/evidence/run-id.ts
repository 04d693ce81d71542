import { canonicalJson } from '../core/canonical-json.ts';
import { sha256HexOf } from '../core/digest.ts';
import type { CanonicalLine } from './normalise/canonical-line.ts';
import type { Normalised } from './normalise/normalise.ts';
import type { RunRecord } from './run-record.ts';

export interface RunId {
  /** `sandbox_` and the first 16 digits of the digest. */
  readonly runId: string;
  readonly digest: string;
  /** Of what was read in system directories: beside the id, since it changes with the machine. */
  readonly readsSystemDigest: string;
}

const SCHEMA = 'assay.run-id.v1';

/** Counts, times, process numbers, the host and the environment are not in it. */
export function computeRunId(record: RunRecord, normalised: Normalised): RunId {
  const { exitCode, signal, isTimedOut, limit, execError } = record.end;
  const digest = sha256HexOf(
    writeWithLines(normalised.lines, {
      command: normalised.command,
      degradations: normalised.degradations.map(({ rule, reason }) => `${rule}: ${reason}`),
      end: { execError: execError ?? '', exitCode, isTimedOut, limit, signal },
      schema: SCHEMA,
    }),
  );
  return {
    runId: `sandbox_${digest.slice(0, 16)}`,
    digest,
    readsSystemDigest: sha256HexOf(writeWithLines(normalised.systemReads, { schema: SCHEMA })),
  };
}

/** Canonical JSON in parts, since the text of all lines may be long. `rest` has no member after `lines` but `schema`. */
function* writeWithLines(
  lines: readonly CanonicalLine[],
  { schema, ...rest }: Readonly<Record<string, unknown>> & { readonly schema: string },
): Iterable<string> {
  const head = canonicalJson(rest).slice(0, -1);
  yield `${head}${head === '{' ? '' : ','}"lines":[`;
  let comma = '';
  for (const line of lines) {
    yield comma + canonicalJson(listParts(line));
    comma = ',';
  }
  yield `],"schema":${canonicalJson(schema)}}`;
}

/** By position; what is absent is null. */
function listParts(line: CanonicalLine): readonly (string | null)[] {
  const { op, path, target, outcome, program, refusedBy, digest } = line;
  return [op, path, target ?? null, outcome, program, refusedBy ?? null, digest ?? null];
}
