/** A program that runs twice, bare and inside, in workspaces with the same path and the same content. */
export interface Workload {
  readonly name: string;
  /** Files of `workloads/`, copied into the workspace. */
  readonly files: readonly string[];
  /** Runs with the workspace as its directory. Also bare and as root, so it must not change anything elsewhere. */
  readonly command: readonly string[];
  /** Programs without which there is nothing to compare. */
  readonly tools?: readonly string[];
  /** Runs on a terminal, with this dialogue of `workloads/` typed at it. */
  readonly dialogue?: string;
  /** Stays outside, and starts what `$RUN` stands before: nothing when bare, assay when inside. */
  readonly isOuter?: boolean;
  /** Everything that it does is recorded. */
  readonly isRecorded?: boolean;
  /** Each match is replaced in what was printed: what differs between two bare runs too. */
  readonly volatileText?: readonly (readonly [pattern: RegExp, replacement: string])[];
  /** Files whose content holds times, inode numbers or random salts; they must exist all the same. */
  readonly volatileFiles?: RegExp;
}

/** Who runs it. */
export interface Runner {
  readonly name: 'root' | 'user';
  readonly uid: number;
  readonly gid: number;
}

export interface Outcome {
  readonly exit: string;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** One line for each file that was left in the workspace. */
  readonly tree: readonly string[];
}
