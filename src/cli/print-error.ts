import { renameLimits } from '../backends/limit-names.ts';
import { SandboxError, type SandboxErrorCode } from '../backends/sandbox-error.ts';
import { AssayError, type ErrorCode } from '../core/errors.ts';
import { toPrintableLines } from '../core/printable.ts';
import { BundleError, type BundleReason } from '../evidence/bundle/bundle-error.ts';
import { LIMIT_FLAGS } from './limit-flags.ts';
import { PolicyError, type PolicyProblem } from '../policy/problems.ts';

export interface ErrorView {
  readonly isColored: boolean;
  /** With the stack, for whoever works on assay itself. */
  readonly isDebug: boolean;
}

/** Prints what went wrong on standard error and returns the code to exit with. */
export function printError(error: unknown): number {
  const failure = toAssayError(error);
  const { env, stderr } = process;
  const view = {
    // https://no-color.org: set and not empty.
    isColored: stderr.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    isDebug: env['ASSAY_DEBUG'] === '1',
  };
  stderr.write(renderError(failure, view));
  return failure.exitCode;
}

/** For people: the message, the place, the line it is about, what to do, and the code on a line of its own. */
export function renderError(error: AssayError, { isColored, isDebug }: ErrorView): string {
  const paint = (code: number, text: string): string =>
    isColored ? `\u001b[${code}m${text}\u001b[0m` : text;
  const lines = listProblems(error).flatMap(({ message, at, snippet, hint }) => {
    const problem = [`${paint(31, 'assay:')} ${toPrintableLines(message)}`];
    if (at) problem.push(paint(2, toPrintableLines(`  at ${at.file}:${at.line}:${at.column}`)));
    if (snippet !== undefined) problem.push(toPrintableLines(snippet).replace(/^/gm, '    '));
    if (hint !== undefined) problem.push(`${paint(36, 'hint:')} ${toPrintableLines(hint)}`);
    return problem;
  });
  lines.push(error.code);
  if (isDebug) lines.push(toPrintableLines(describeStack(error)));
  return `${lines.join('\n')}\n`;
}

/** A policy file has all its problems shown at once. */
function listProblems(error: AssayError): readonly PolicyProblem[] {
  return error instanceof PolicyError ? error.problems : [error];
}

/** Of a disk, not of assay. */
const WRITE_FAILURES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);

/** Anything else that is thrown is a mistake in assay. */
function toAssayError(error: unknown): AssayError {
  if (error instanceof AssayError) return error;
  if (error instanceof BundleError) return describeBundleError(error);
  if (SandboxError.is(error)) return describeSandboxError(error);
  const message = error instanceof Error ? error.message : String(error);
  if (WRITE_FAILURES.has((error as { readonly code?: unknown } | undefined)?.code))
    return new AssayError('E_OUTPUT_NOT_WRITTEN', `Cannot write the output: ${message}`, {
      hint: 'Make room, or let it go elsewhere',
      cause: error,
    });
  return new AssayError('E_INTERNAL', `Internal error: ${message}`, {
    hint: 'This is a bug in assay. ASSAY_DEBUG=1 shows where',
    cause: error,
  });
}

/** The reason is the code on the last line; the exact code and the place stand with the message. */
function describeBundleError(error: BundleError): AssayError {
  const { code, reason, at, file, message } = error;
  const line = at?.line === undefined ? '' : `:${at.line}`;
  const place = [file, at && `${at.member}${line}`].filter((part) => part !== undefined);
  return new AssayError(reason, [...place, `${message} (${code})`].join(': '), {
    hint:
      code === 'IntegrityIo'
        ? 'Name the file that --bundle wrote, or - for standard input'
        : HINTS[reason],
    cause: error,
  });
}

const SANDBOX_CODES: Readonly<Record<SandboxErrorCode, ErrorCode>> = {
  backend_unavailable: 'E_BACKEND_UNAVAILABLE_UNENFORCEABLE',
  image_unavailable: 'E_BACKEND_UNAVAILABLE_UNENFORCEABLE',
  policy_unenforceable: 'E_SANDBOX_UNENFORCEABLE',
  policy_invalid: 'E_USAGE',
  input_invalid: 'E_USAGE',
  limit_invalid: 'E_USAGE',
  path_invalid: 'E_USAGE',
  path_denied: 'E_USAGE',
  not_found: 'E_USAGE',
  start_failed: 'E_LAUNCH_FAILED',
  gone: 'E_LAUNCH_FAILED',
  engine_failed: 'E_LAUNCH_FAILED',
  evidence_write_failed: 'E_RECORD_NOT_WRITTEN',
};

function describeSandboxError(error: SandboxError): AssayError {
  const { code, message, hint } = error;
  return new AssayError(SANDBOX_CODES[code], renameLimits(message, LIMIT_FLAGS), {
    hint: hint && renameLimits(hint, LIMIT_FLAGS),
    cause: error,
  });
}

const HINTS: Readonly<Record<BundleReason, string>> = {
  E_EVIDENCE_INTEGRITY: 'It was changed after it was written. Get it again from where it was made',
  E_EVIDENCE_CONTRACT:
    'It is not a bundle, or another program wrote it. docs/bundle-format.md explains the code',
  E_EVIDENCE_LIMIT_EXCEEDED:
    'It is larger than any bundle that assay writes. docs/bundle-format.md has the limits',
  E_EVIDENCE_PATH_REJECTED: 'Do not unpack it: no bundle has such a member',
  E_EVIDENCE_UNREADABLE:
    'It may not have been copied as a whole. Get it again from where it was made',
};

function describeStack(error: Error): string {
  const stack = error.stack ?? '';
  const { cause } = error;
  return cause instanceof Error ? `${stack}\ncaused by ${describeStack(cause)}` : stack;
}
