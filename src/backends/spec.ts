/** What somebody asks of a sandbox before it is made. Everything that is not said is closed. */
export interface SandboxSpec {
  /** A directory of the host that is at `/workspace` inside. Without one, `/workspace` starts empty and is thrown away. */
  readonly workspace?: WorkspaceSpec | undefined;
  /** Nothing by default. */
  readonly network?: NetworkSpec | undefined;
  /** What programs inside find in their environment besides `PATH`, `HOME`, `TMPDIR` and `LANG`: nothing of the host's. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What all calls together may use at a time; a call can only be given less. */
  readonly limits?: SandboxLimits | undefined;
  /** Of a container: which image; of others it cannot be enforced. */
  readonly image?: string | undefined;
  /** Of the language-level layer: modules that code may import. All that there are, unless given. */
  readonly modules?: readonly string[] | undefined;
  /** Of the language-level layer: whether code may make code out of strings. */
  readonly canEval?: boolean | undefined;
  /** What the sandbox must be at least; see `Guarantees`. */
  readonly require?: Requirements | undefined;
}

export interface WorkspaceSpec {
  readonly host: string;
  /** Of a copy, nothing comes back but through `fs` and `changes()`. */
  readonly mode: 'ro' | 'rw' | 'copy';
}

export type NetworkSpec =
  | 'none'
  /** Entries as in `net.allow` and `net.deny` of a policy. */
  | { readonly allow: readonly string[]; readonly deny?: readonly string[] | undefined };

export interface SandboxLimits {
  /** Of one call, by the clock. */
  readonly wallMs?: number | undefined;
  /** Of one call, over all its processes. */
  readonly cpuMs?: number | undefined;
  /** Processors at a time, such as 0.5. */
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly pids?: number | undefined;
  /** Of `/workspace` and `/tmp` together, or of each where a backend says so. */
  readonly diskBytes?: number | undefined;
  /** Files and directories made. */
  readonly inodes?: number | undefined;
  /** Of each of stdout and stderr; what is over is counted and dropped. */
  readonly outputBytes?: number | undefined;
  readonly openFiles?: number | undefined;
}

export const LIMIT_NAMES = [
  'wallMs',
  'cpuMs',
  'cpus',
  'memoryBytes',
  'pids',
  'diskBytes',
  'inodes',
  'outputBytes',
  'openFiles',
] as const satisfies readonly (keyof SandboxLimits)[];

/** In rising order: the later, the less of the host's kernel the code can reach. */
export const KERNELS = ['shared', 'language', 'userspace', 'separate'] as const;

export interface Requirements {
  /** At least this far from the host's kernel. */
  readonly kernel?: (typeof KERNELS)[number] | undefined;
  /** Limits that were asked for must be kept by the kernel or the engine, not by looking from time to time. */
  readonly hardLimits?: boolean | undefined;
}

/** What holds when nobody says otherwise. */
export const DEFAULT_LIMITS = {
  wallMs: 30_000,
  memoryBytes: 512 * 1024 * 1024,
  pids: 64,
  diskBytes: 64 * 1024 * 1024,
  inodes: 10_000,
  outputBytes: 1024 * 1024,
  openFiles: 256,
} as const satisfies SandboxLimits;

export const WORKSPACE = '/workspace';
