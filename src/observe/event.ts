/** How a fact is known: we did it ourselves; we saw that it happened; we saw the attempt and know what the kernel answers. */
export type Basis = 'performed' | 'observed' | 'predicted';

export type FileOp =
  | 'read'
  /** An existing file opened for writing. */
  | 'write'
  /** A regular file that was not there before. */
  | 'create'
  | 'mkdir'
  | 'mknod'
  | 'symlink'
  | 'unlink'
  | 'rmdir'
  | 'rename'
  | 'link'
  | 'truncate'
  | 'chmod'
  | 'chown'
  | 'utimes'
  | 'xattr';

export type NetworkOp =
  | 'connect'
  | 'bind'
  /** A name was asked for, at the door for names. */
  | 'resolve';

/** Who refused, when the sandbox did; absent when nothing of ours was in the way. */
export interface Decision {
  /** The rule as a person reads it, such as `policy.yaml:6:5 fs.deny: ~/.ssh`; null when nothing allows the attempt. */
  readonly rule: string | null;
  readonly layer: 'broker' | 'kernel' | 'git-guard' | 'limit' | 'egress';
}

interface Attempt {
  readonly basis: Basis;
  /** `ok`, the name of an errno such as `ENOENT`, or `unknown` where only the failure itself is known. */
  readonly outcome: string;
  readonly decision?: Decision | undefined;
  /** The program that did it, by its id in this run: see {@link Program}. */
  readonly program: number;
  /** How often the very same thing happened; 0 of a move that is told again, and counted where it was told first. */
  readonly count: number;
  /** When it was first seen, from the start of the record on. */
  readonly atMs: number;
}

/**
 * An `exchange` moves its target to its path as well, and that is told `back`. Between two names of one file a rename
 * moves nothing, so `none`.
 */
export type Move = 'plain' | 'exchange' | 'back' | 'none';

export interface FileEvent extends Attempt {
  readonly kind: 'file';
  readonly op: FileOp;
  /** Absolute, links resolved, as seen inside. */
  readonly path: string;
  /** As the program asked for it the first time, when that differs. */
  readonly requested?: string | undefined;
  /** Where a rename or a hard link leads; the text of a symbolic link; the new mode of a chmod, in octal. */
  readonly target?: string | undefined;
  readonly isDirectory?: boolean | undefined;
  /** A rename that put an existing file out of the way. */
  readonly isReplacing?: boolean | undefined;
  /** Of a rename, when it is not a plain one. Of a `write`, `none` when it was to what keeps nothing, as a FIFO does. */
  readonly move?: Exclude<Move, 'plain'> | undefined;
  /** Of a change: how what is at `path` was just before, the first time. */
  readonly before?: FileState | undefined;
  /** The same of what a rename put out of the way. */
  readonly targetBefore?: FileState | undefined;
}

/** Enough to tell whether a file has been changed. */
export interface FileState {
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
  /** Of the last change of any kind, which nobody can set; nothing where times do not tell, as in memory. */
  readonly ctimeNs: string;
}

/** An attempt to execute; what really came to run is a {@link Program}. */
export interface ExecEvent extends Attempt {
  readonly kind: 'exec';
  readonly path: string;
  readonly requested?: string | undefined;
}

export interface NetworkEvent extends Attempt {
  readonly kind: 'network';
  readonly op: NetworkOp;
  /** `tcp`, `udp`, `unix` or another family by its number; `dns` of a name that was asked for. */
  readonly family: string;
  /** A name where the connection went through a door, an address, or the path of a socket. */
  readonly host: string;
  readonly port?: number | undefined;
  /** Of a bind to port 0: what the kernel chose. */
  readonly chosenPort?: number | undefined;
}

/** Of a connection at a door, where nothing says whose it was. */
export const UNKNOWN_PROGRAM = 0xffff_ffff;

/** All connections to one endpoint through the doors. None of it is the same in the next run. */
export interface ConnectionTotals {
  /** `tcp:example.org:443` */
  readonly endpoint: string;
  readonly count: number;
  readonly refused: number;
  /** Bytes to and from it. */
  readonly sent: number;
  readonly received: number;
  /** Of all of them, one after another. */
  readonly durationMs: number;
  /** What was dialled; the first few. */
  readonly addresses: readonly string[];
  readonly doors: readonly string[];
  /** Rules that allowed or refused it; the first few. */
  readonly rules: readonly string[];
  /** What else is to be said; the first few. */
  readonly notes: readonly string[];
}

/** What a run's doors tell beside events. */
export interface EgressTotals {
  readonly connections: readonly ConnectionTotals[];
  /** By endpoint: the flag that would have allowed what was refused; the first few. */
  readonly hints: ReadonlyMap<string, string>;
}

export interface EnvironmentEvent {
  readonly kind: 'environment';
  readonly op: 'passed' | 'removed';
  readonly name: string;
}

export interface LimitEvent {
  readonly kind: 'limit';
  readonly limit: string;
  /** Absent when it is known from how the run ended. */
  readonly atMs?: number | undefined;
}

export interface DegradationEvent {
  readonly kind: 'degradation';
  readonly rule: string;
  readonly reason: string;
}

export type Event =
  FileEvent | ExecEvent | NetworkEvent | EnvironmentEvent | LimitEvent | DegradationEvent;

/**
 * A program that ran: an image, and the line of programs that led to it. Ids are given in order of appearance and
 * never again; a program that is started a thousand times by the same one is one program with a count.
 */
export interface Program {
  readonly id: number;
  /** The program that executed it; 0 is assay itself. */
  readonly parent: number;
  /** The image that was seen to run. */
  readonly image: string;
  /** It was not seen: a signal ended it before it made a call. */
  readonly isPredicted?: boolean | undefined;
  /** The script that named the image as its interpreter. */
  readonly script?: string | undefined;
  /** SHA-256 of the image, in hex; absent when it could not be read in time. */
  readonly digest?: string | undefined;
  readonly count: number;
  /** When it was first seen to run. */
  readonly atMs: number;
  /** Distinct command lines, redacted; the first few. */
  readonly commands: readonly (readonly string[])[];
}

export type Surface = 'reads' | 'changes' | 'programs' | 'network' | 'environment';

export interface SurfaceCoverage {
  readonly status: 'complete' | 'partial' | 'absent';
  /** What was not watched, or how much was lost; empty when complete. */
  readonly reasons: readonly string[];
}

export type Coverage = Readonly<Record<Surface, SurfaceCoverage>>;

export type ObserveLevel = 'all' | 'effects' | 'none';

/**
 * Distinct events beyond the cap, of which only their directory is kept: counted, with a digest that does not depend on
 * their order.
 */
export interface Overflow {
  readonly op: string;
  /** All of them lie in it or below; of a network event, the family or the host. */
  readonly directory: string;
  readonly outcome: string;
  /** The program that did it, or one that led to all that did. */
  readonly program: number;
  readonly count: number;
  readonly digest: string;
  /** Of the first of them. */
  readonly atMs: number;
}
