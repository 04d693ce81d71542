export type SandboxErrorCode =
  /** The engine is not here; `hint` says how to get it. */
  | 'backend_unavailable'
  | 'policy_invalid'
  /** What was handed over with a call is not what the call takes. */
  | 'input_invalid'
  /** The backend cannot guarantee what was asked for; `unmet` lists each item. */
  | 'policy_unenforceable'
  | 'image_unavailable'
  | 'start_failed'
  | 'not_found'
  /** The sandbox has been disposed of or killed. */
  | 'gone'
  | 'path_denied'
  | 'path_invalid'
  | 'limit_invalid'
  /** The engine broke down under a call. */
  | 'engine_failed'
  | 'evidence_write_failed';

/** Something that was asked for, why it cannot be had here, and where it could. */
export interface Unmet {
  /** As in the spec: `limits.cpuMs`, `network`, `require.kernel`. */
  readonly item: string;
  readonly reason: string;
}

export interface SandboxErrorOptions {
  readonly hint?: string | undefined;
  readonly unmet?: readonly Unmet[] | undefined;
  readonly cause?: unknown;
}

export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
  readonly hint: string | undefined;
  readonly unmet: readonly Unmet[];

  constructor(code: SandboxErrorCode, message: string, options: SandboxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SandboxError';
    this.code = code;
    this.hint = options.hint;
    this.unmet = options.unmet ?? [];
  }

  /** Also for an error of another copy of this package. */
  static is(error: unknown): error is SandboxError {
    return error instanceof Error && error.name === 'SandboxError' && 'code' in error;
  }
}
