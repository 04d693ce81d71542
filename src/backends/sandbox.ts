import type { BackendId, Coverage, LimitName, Surface } from './backend.ts';
import type { SandboxLimits } from './spec.ts';

/** One sandbox: its files live until it is disposed of, its processes no longer than the call that started them. */
export interface Sandbox extends AsyncDisposable {
  readonly id: string;
  readonly backend: BackendId;
  /** Limits as they hold, defaults included. */
  readonly limits: SandboxLimits;
  /** Runs one program to its end. What the program does is a result; only what assay cannot do is thrown. */
  exec(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Starts one program and hands out its events while it runs. */
  spawn(argv: readonly string[], options?: ExecOptions): Promise<SandboxProcess>;
  readonly fs: SandboxFs;
  /**
   * Puts code where programs inside can read it and not change it, outside of `/workspace`, and returns its path
   * inside. The same name replaces what was there. A backend without such a place has no such method.
   */
  putCode?(name: string, code: Uint8Array): Promise<string>;
  /**
   * Starts the program that will likely be asked for next, up to where it opens its code, which `putCode` then puts
   * there. A call that is another one starts as usual. A backend that cannot has no such method.
   */
  expect?(call: ExpectedCall): Promise<void>;
  /** What differs in `/workspace` from how the sandbox was made. */
  changes(): Promise<readonly FileChange[]>;
  /** Ends everything inside at once. Calls that are under way end as `aborted`. */
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ExpectedCall {
  /** The program and its flags; the path of the code follows. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** As it will be given to `putCode`. */
  readonly codeName: string;
}

export interface ExecOptions {
  /** `/workspace` unless given; relative to it. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | Uint8Array | undefined;
  /** May only be less than the sandbox's own. */
  readonly limits?: SandboxLimits | undefined;
  /** Kills everything that the call has started. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ExecEvent) => void) | undefined;
  /** A file of the host that the evidence of this call is written to, as a bundle. */
  readonly bundle?: string | undefined;
  /** SHA-256 of the code that is run, for the evidence. */
  readonly codeSha256?: string | undefined;
}

export type ExecEvent =
  | { readonly type: 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly type: 'denied'; readonly denial: Denial }
  | { readonly type: 'end'; readonly result: ExecResult };

export interface SandboxProcess extends AsyncIterable<ExecEvent>, AsyncDisposable {
  write(data: string | Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  signal(name: NodeJS.Signals): Promise<void>;
  wait(): Promise<ExecResult>;
}

export type Outcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timeout'; readonly limitMs: number }
  /** Which limit ended it. A program that is refused more of something, and goes on, has exited. */
  | { readonly kind: 'limit'; readonly limit: LimitName; readonly value: number }
  | { readonly kind: 'aborted' }
  /** The program was not started: not found, not allowed. */
  | { readonly kind: 'refused'; readonly denial: Denial };

export interface ExecResult {
  readonly outcome: Outcome;
  /** Exited with 0. */
  readonly isOk: boolean;
  /** As a shell would say it: 128+n for a signal, 124 for a timeout, 137 for a limit or an abort, 126 and 127. */
  readonly exitCode: number;
  /** The bytes as they came. */
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Bytes that were dropped. */
  readonly truncated: { readonly stdout: number; readonly stderr: number };
  readonly durationMs: number;
  readonly usage: Usage;
  readonly denials: readonly Denial[];
  /** Limits that were reached, also where the program went on. */
  readonly reached: readonly LimitName[];
  readonly evidence: ExecEvidence;
}

/** What is not known is not there. */
export interface Usage {
  readonly cpuMs?: number | undefined;
  readonly maxMemoryBytes?: number | undefined;
  readonly diskBytes?: number | undefined;
}

export interface Denial {
  readonly action: 'fs.read' | 'fs.write' | 'net.connect' | 'net.dns' | 'exec' | 'syscall';
  /** A name that is not UTF-8 has `\xNN` for the bytes that are none. */
  readonly target: string;
  readonly rule?: string | undefined;
  /** What would allow it. */
  readonly hint?: string | undefined;
}

export interface ExecEvidence {
  readonly runId: string;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  readonly codeSha256?: string | undefined;
  /** Which events of the bundle are of this call; first and last. */
  readonly seq?: readonly [number, number] | undefined;
  readonly bundle?: { readonly path: string; readonly sha256: string } | undefined;
}

export interface FileChange {
  /**
   * Below `/workspace`, without it; as a record has it. A name that is not UTF-8 has its other bytes as `\xNN`, and its
   * backslashes doubled, as has one that could be taken for such a one.
   */
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted';
  /** Of a regular file that is there now. */
  readonly sha256?: string | undefined;
  readonly sizeBytes?: number | undefined;
}

/** As `node:fs/promises`. Paths are below `/workspace`; a link that leads out of it is not followed. */
export interface SandboxFs {
  readFile(path: string, options?: { readonly maxBytes?: number | undefined }): Promise<Uint8Array>;
  writeFile(path: string, data: string | Uint8Array): Promise<void>;
  mkdir(path: string): Promise<void>;
  /** Names, directories with a `/` behind. */
  readdir(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<SandboxStat>;
  rm(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export interface SandboxStat {
  readonly kind: 'file' | 'directory' | 'other';
  readonly sizeBytes: number;
}
