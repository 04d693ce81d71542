import type { ExecResult, FileChange, Outcome } from '../backends/sandbox.ts';
import { decodeUtf8 } from '../core/utf8.ts';

/** What a call of `execute_code` comes back with. In JSON, so its names are written as they are there. */
export interface CodeOutput {
  readonly outcome: Outcome['kind'];
  /** Which limit ended it. */
  readonly limit?: string;
  readonly signal?: string;
  /** As a shell would say it. */
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The same bytes, where they are not UTF-8. */
  readonly stdout_base64?: string;
  readonly stderr_base64?: string;
  /** Bytes of the program's that are left out of each; of base64 only where some are. */
  readonly truncated: {
    readonly stdout: number;
    readonly stderr: number;
    readonly stdout_base64?: number;
    readonly stderr_base64?: number;
  };
  readonly duration_ms: number;
  readonly usage: {
    readonly cpu_ms?: number;
    readonly max_memory_bytes?: number;
    readonly disk_bytes?: number;
  };
  /** Limits that were reached, also where the program went on. */
  readonly reached: readonly string[];
  readonly denials: readonly OutputDenial[];
  readonly files: readonly OutputChange[];
  /** Why it is not known what has changed; `files` is empty then. */
  readonly files_error?: string;
  readonly outputs?: readonly OutputFile[];
  readonly session?: string;
  readonly evidence: OutputEvidence;
}

export interface OutputDenial {
  readonly action: string;
  readonly target: string;
  readonly rule?: string;
  readonly hint?: string;
}

export interface OutputChange {
  readonly path: string;
  readonly change: FileChange['change'];
  readonly sha256?: string;
  readonly size_bytes?: number;
}

export interface OutputFile {
  readonly path: string;
  readonly content?: string;
  readonly encoding?: 'utf8' | 'base64';
  /** Why there is no content. */
  readonly error?: string;
}

export interface OutputEvidence {
  /** None where nothing was started. */
  readonly run_id?: string;
  readonly code_sha256?: string;
  readonly coverage?: Readonly<Record<string, string>>;
  readonly bundle?: { readonly path: string; readonly sha256: string };
}

export interface OutputParts {
  readonly result: ExecResult;
  readonly changes: readonly FileChange[];
  readonly filesError?: string | undefined;
  readonly outputs?: readonly OutputFile[] | undefined;
  readonly session?: string | undefined;
  readonly codeSha256?: string | undefined;
}

export function makeOutput(parts: OutputParts, maxOutputChars: number): CodeOutput {
  const { result, changes, filesError, outputs, session, codeSha256 } = parts;
  const { truncated } = result;
  const stdout = clip(result.stdout, truncated.stdout, maxOutputChars);
  const stderr = clip(result.stderr, truncated.stderr, maxOutputChars);
  const { cpuMs, maxMemoryBytes, diskBytes } = result.usage;
  return withoutUndefined({
    ...describeOutcome(result.outcome),
    exit_code: result.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_base64: stdout.base64,
    stderr_base64: stderr.base64,
    truncated: withoutUndefined({
      stdout: stdout.droppedBytes,
      stderr: stderr.droppedBytes,
      stdout_base64: stdout.base64DroppedBytes,
      stderr_base64: stderr.base64DroppedBytes,
    }),
    duration_ms: Math.round(result.durationMs),
    usage: withoutUndefined({
      cpu_ms: cpuMs === undefined ? undefined : Math.round(cpuMs),
      max_memory_bytes: maxMemoryBytes,
      disk_bytes: diskBytes,
    }),
    reached: result.reached,
    denials: listDenials(result),
    files: changes.map(({ path, change, sha256, sizeBytes }) =>
      withoutUndefined({ path, change, sha256, size_bytes: sizeBytes }),
    ),
    files_error: filesError,
    outputs,
    session,
    evidence: withoutUndefined({
      run_id: result.evidence.runId,
      code_sha256: codeSha256,
      coverage: result.evidence.coverage,
      bundle: result.evidence.bundle,
    }),
  });
}

/** For code that was not started: it cannot be read, or the call was taken back before. */
export function makeUnstarted(
  outcome: 'refused' | 'aborted',
  { reason, codeSha256 }: { reason: string; codeSha256: string },
): CodeOutput {
  return {
    outcome,
    exit_code: outcome === 'refused' ? 2 : 137,
    stdout: '',
    stderr: reason,
    truncated: { stdout: 0, stderr: 0 },
    duration_ms: 0,
    usage: {},
    reached: [],
    denials: [],
    files: [],
    evidence: { code_sha256: codeSha256 },
  };
}

function describeOutcome(
  outcome: Outcome,
): Pick<CodeOutput, 'outcome'> & { limit?: string; signal?: string } {
  if (outcome.kind === 'limit') return { outcome: 'limit', limit: outcome.limit };
  if (outcome.kind === 'timeout') return { outcome: 'timeout', limit: 'wallMs' };
  if (outcome.kind === 'signaled') return { outcome: 'signaled', signal: outcome.signal };
  return { outcome: outcome.kind };
}

function listDenials({ denials, outcome }: ExecResult): OutputDenial[] {
  const all = outcome.kind === 'refused' ? [outcome.denial, ...denials] : denials;
  const seen = new Set<string>();
  return all.flatMap(({ action, target, rule, hint }) => {
    const key = `${action} ${target}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [withoutUndefined({ action, target, rule, hint: addRemedy(action, target, hint) })];
  });
}

/** Of the network, what a sandbox may reach is said when it is made: by this flag, or by the same entry in a spec. */
function addRemedy(action: string, target: string, hint: string | undefined): string | undefined {
  if (!action.startsWith('net.')) return hint;
  const remedy = `--net ${target} would allow it`;
  return hint === undefined ? remedy : `${hint}; ${remedy}`;
}

interface ClippedOutput {
  readonly text: string;
  /** Of the program's bytes. */
  readonly droppedBytes: number;
  readonly base64?: string;
  readonly base64DroppedBytes?: number | undefined;
}

/** `lostBytes` have been dropped before. */
function clip(bytes: Uint8Array, lostBytes: number, maxChars: number): ClippedOutput {
  const decoded = decodeUtf8(bytes);
  if (decoded !== undefined) {
    const { text, droppedBytes } = clipText(decoded, maxChars);
    return { text, droppedBytes: lostBytes + droppedBytes };
  }
  const { text, droppedBytes } = clipBytes(bytes, maxChars);
  const encoded = bytes.subarray(0, Math.floor(maxChars / 4) * 3);
  const base64DroppedBytes = lostBytes + bytes.length - encoded.length;
  return {
    text,
    droppedBytes: lostBytes + droppedBytes,
    base64: Buffer.from(encoded).toString('base64'),
    base64DroppedBytes: base64DroppedBytes > 0 ? base64DroppedBytes : undefined,
  };
}

/** Start and end, since what went wrong stands at the end as often as at the start. */
function clipText(text: string, maxChars: number): ClippedOutput {
  if (text.length <= maxChars) return { text, droppedBytes: 0 };
  let end = Math.ceil(maxChars / 2);
  let start = text.length - Math.floor(maxChars / 2);
  if (isInsidePair(text, end)) end -= 1;
  if (isInsidePair(text, start)) start += 1;
  const droppedBytes = Buffer.byteLength(text.slice(end, start));
  return { text: join(text.slice(0, end), droppedBytes, text.slice(start)), droppedBytes };
}

/** Of what is not UTF-8: no byte becomes more than one character. */
function clipBytes(bytes: Uint8Array, maxChars: number): ClippedOutput {
  const { buffer, byteOffset, length } = bytes;
  const all = Buffer.from(buffer, byteOffset, length);
  const text = all.toString('utf8');
  if (text.length <= maxChars) return { text, droppedBytes: 0 };
  let end = Math.ceil(maxChars / 2);
  let start = length - Math.floor(maxChars / 2);
  for (let step = 0; step < 3 && end > 0 && isContinuation(all[end]); step += 1) end -= 1;
  for (let step = 0; step < 3 && start < length && isContinuation(all[start]); step += 1)
    start += 1;
  const droppedBytes = start - end;
  const [head, tail] = [all.toString('utf8', 0, end), all.toString('utf8', start)];
  return { text: join(head, droppedBytes, tail), droppedBytes };
}

function join(head: string, droppedBytes: number, tail: string): string {
  return `${head}\n[... ${droppedBytes} bytes left out ...]\n${tail}`;
}

/** Of a character that takes two. */
function isInsidePair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

function isContinuation(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** JSON has no undefined: what is not known is not there. */
function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Defined<T>;
}
