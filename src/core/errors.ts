/** Where in a file something is wrong; line and column start at 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Every code assay can fail with. `docs/errors.md` explains each one; a test keeps the two in step. */
export const ERROR_CODES = {
  E_USAGE: 2,
  E_POLICY_LOAD_FAILED_UNENFORCEABLE: 2,
  E_POLICY_CONFLICT_DENY_WINS_UNENFORCEABLE: 2,
  E_BACKEND_UNAVAILABLE_UNENFORCEABLE: 2,
  E_SANDBOX_UNENFORCEABLE: 2,
  E_INJECT_FAILED: 2,
  E_WORKDIR: 2,
  E_EVIDENCE_INVALID: 2,
  E_EVIDENCE_INTEGRITY: 1,
  E_EVIDENCE_CONTRACT: 2,
  E_EVIDENCE_LIMIT_EXCEEDED: 5,
  E_EVIDENCE_PATH_REJECTED: 6,
  E_EVIDENCE_UNREADABLE: 7,
  E_KEY: 2,
  E_PACK_INVALID: 2,
  E_HELPER_MISSING: 3,
  E_LAUNCH_FAILED: 3,
  E_TMP_FAILED: 3,
  E_RECORD_NOT_WRITTEN: 3,
  E_OUTPUT_NOT_WRITTEN: 3,
  E_INTERNAL: 3,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface AssayErrorOptions {
  readonly hint?: string | undefined;
  readonly at?: Place | undefined;
  /** The offending source line with a caret under the place. */
  readonly snippet?: string | undefined;
  readonly cause?: unknown;
}

export class AssayError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly at: Place | undefined;
  readonly snippet: string | undefined;

  constructor(code: ErrorCode, message: string, options: AssayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AssayError';
    this.code = code;
    this.hint = options.hint;
    this.at = options.at;
    this.snippet = options.snippet;
  }

  get exitCode(): number {
    return ERROR_CODES[this.code];
  }
}
