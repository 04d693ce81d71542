import type {
  BackendId,
  BackendReport,
  Language,
  SandboxBackend,
} from '../../src/backends/backend.ts';
import type { ExecOptions, ExecResult, Sandbox } from '../../src/backends/sandbox.ts';
import type { LIMIT_NAMES, SandboxSpec } from '../../src/backends/spec.ts';
import type { World } from './world.ts';

/** What a row can ask for. What a backend does not have is a row that is not run, with the reason: never a pass. */
export type Need =
  | Exclude<Language, 'typescript'>
  /** Programs start others. */
  | 'processes'
  /** Programs make any system call they like. */
  | 'syscalls'
  /** The language has sockets, whether or not they lead anywhere. */
  | 'sockets'
  /** Programs see a file system with `/workspace` and `/tmp` in it. */
  | 'files'
  /** Programs can be ended by signals and send them. */
  | 'signals'
  | 'threads'
  /** What the kernel itself offers is the host's. */
  | 'shared kernel'
  | 'network'
  | 'rw'
  | 'ro'
  | 'copy'
  | `limit:${(typeof LIMIT_NAMES)[number]}`;

export const GROUPS = [
  'files',
  'network',
  'timeouts',
  'limits',
  'streams',
  'file api',
  'state',
  'lifetime',
  'refusals',
  'evidence',
  'hostile',
] as const;
export type Group = (typeof GROUPS)[number];

interface RowBase {
  readonly group: Group;
  readonly name: string;
  readonly needs?: readonly Need[];
  /** Seconds that it may take on a fast backend. */
  readonly seconds?: number;
}

/** A program, and what must come of it. */
export interface ProgramRow extends RowBase {
  readonly spec?: SandboxSpec | ((world: World) => SandboxSpec);
  readonly language: Exclude<Language, 'typescript'>;
  readonly code: string | ((world: World) => string);
  readonly options?: ExecOptions | ((kit: Kit) => ExecOptions);
  /** In a sandbox of its own, for what leaves traces or breaks things. */
  readonly isAlone?: boolean;
  /** The code is in the workspace already, as `row.py` or the like: nobody may write it there. */
  readonly isInPlace?: boolean;
  /** Run bare on this host, it must print ESCAPED: so that the row can fail. Harmless programs only. */
  readonly hasControl?: boolean;
  readonly check: (seen: Seen) => void | Promise<void>;
}

/** Something that is done with the interface itself. */
export interface ApiRow extends RowBase {
  readonly act: (kit: Kit) => Promise<void>;
}

export type Row = ProgramRow | ApiRow;

export interface Seen {
  readonly result: ExecResult;
  /** stdout and stderr as text. */
  readonly out: string;
  readonly err: string;
  readonly sandbox: Sandbox;
  readonly kit: Kit;
  readonly world: World;
}

export interface Kit {
  readonly id: BackendId;
  readonly backend: SandboxBackend;
  readonly report: BackendReport;
  readonly world: World;
  /** How much longer things take than in a process of this host. */
  readonly slowness: number;
  /** A sandbox that is disposed of after the row, if the row does not. */
  open(spec?: SandboxSpec): Promise<Sandbox>;
  /** Writes the code to a file of the sandbox and runs it. */
  run(sandbox: Sandbox, program: Program, options?: ExecOptions): Promise<ExecResult>;
  /** The program and its arguments for code that is at `path` below `/workspace`. */
  argvFor(language: Program['language'], path: string): string[];
  /** The language that rows use which do not care: one that this backend has. */
  readonly anyLanguage: Program['language'];
  /** A one-liner in that language that prints a line. */
  printing(text: string): Program;
  countLeftovers(): Promise<Readonly<Record<string, number>>>;
  readonly makeUnavailable: (() => SandboxBackend | Promise<SandboxBackend>) | undefined;
}

export interface Program {
  readonly language: Exclude<Language, 'typescript'>;
  readonly code: string;
}
