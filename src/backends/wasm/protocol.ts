import type { LimitName } from '../backend.ts';
import type { Denial, Outcome } from '../sandbox.ts';

/** The programs that there are inside: names, not files. */
export type Program = 'python' | 'javascript';

/** What a cell is told before anything else. */
export interface CellConfig {
  /** The engines, as files of the host. */
  readonly engines: Readonly<Record<Program, string | undefined>>;
  /** What JavaScript finds inside besides the language itself, as a file of the host. */
  readonly guest: string;
  readonly diskBytes: number;
  readonly inodes: number;
  readonly isWorkspaceReadOnly: boolean;
  readonly modules: readonly string[] | undefined;
  readonly canEval: boolean;
}

export interface RunLimits {
  readonly wallMs: number;
  readonly cpuMs: number | undefined;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly openFiles: number;
}

export interface RunRequest {
  readonly program: Program;
  /** As the program is to see them, its own name first. */
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly limits: RunLimits;
}

/** How a run ended, as the cell saw it. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly reached: readonly LimitName[];
  readonly truncated: { readonly stdout: number; readonly stderr: number };
  readonly cpuMs: number;
  readonly maxMemoryBytes: number | undefined;
  readonly diskBytes: number;
  readonly denials: readonly Denial[];
}

export type FileRequest =
  | { readonly op: 'read'; readonly path: string; readonly at: number; readonly maxBytes: number }
  | { readonly op: 'write' | 'code'; readonly path: string; readonly isFirst: boolean }
  | { readonly op: 'mkdir' | 'stat' | 'rm'; readonly path: string }
  /** Of a directory, or of everything below the workspace; some at a time. */
  | { readonly op: 'readdir'; readonly path: string; readonly from: number }
  | { readonly op: 'list'; readonly from: number }
  | { readonly op: 'rename'; readonly path: string; readonly to: string }
  | { readonly op: 'link'; readonly path: string; readonly to: string };

/** To the cell; `id` is of a run or of a question. */
export type ToCell =
  | { readonly type: 'config'; readonly config: CellConfig }
  | { readonly type: 'run'; readonly id: number; readonly request: RunRequest }
  /** Empty bytes: there is no more. */
  | { readonly type: 'stdin'; readonly id: number }
  | { readonly type: 'end'; readonly id: number; readonly outcome: Outcome }
  | { readonly type: 'file'; readonly id: number; readonly request: FileRequest };

/** From the cell. Whoever reads it does not take it on trust. */
export type FromCell =
  | { readonly type: 'ready' }
  | { readonly type: 'output'; readonly id: number; readonly stream: 'stdout' | 'stderr' }
  | { readonly type: 'ended'; readonly id: number; readonly end: RunEnd }
  | { readonly type: 'broken'; readonly id: number; readonly reason: string }
  | { readonly type: 'file'; readonly id: number; readonly value: unknown }
  | { readonly type: 'refused'; readonly id: number; readonly errno: string };
