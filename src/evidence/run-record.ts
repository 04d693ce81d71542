import type {
  Coverage,
  EgressTotals,
  Event,
  ObserveLevel,
  Overflow,
  Program,
} from '../observe/event.ts';
import type { Variables } from '../policy/policy.ts';

export type { Overflow } from '../observe/event.ts';

/**
 * How a path ended that the run had changed or opened for writing: gone, a directory, as it was before, another file or
 * of another size, of another time only, or `there`, with nothing to compare it with. `touched` is as before but for its
 * attributes, as long as nobody has set its time back; `alike` where times do not tell.
 */
export type FinalState =
  'absent' | 'directory' | 'same' | 'touched' | 'alike' | 'other' | 'changed' | 'there';

/** Names below moved directories, about; what is beyond is missing from the net changes. */
export const MAX_MOVED = 100_000;

/** What was found by looking at what a run has touched, after it. */
export interface Aftermath extends Pick<RunRecord, 'finalStates' | 'movedContents'> {
  /** How many places could not be looked at; those of the private tmp, which goes with the run, are left out. */
  readonly unseen: number;
}

/** A number that programs like to put into names. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** Everything that is known of one run, before anything is normalised. Paths are as seen inside. */
export interface RunRecord {
  /** Redacted. */
  readonly command: readonly string[];
  readonly level: ObserveLevel;
  readonly events: readonly Event[];
  readonly programs: readonly Program[];
  readonly coverage: Coverage;
  readonly end: RunEnd;
  readonly variables: Variables;
  /** On the host, by now. */
  readonly isThere?: ((path: string) => boolean) | undefined;
  /** Where the private tmp is seen inside: `/tmp`, `/var/tmp` or the private directory itself. */
  readonly privateTmp: readonly string[];
  readonly uid: number;
  readonly startedMs: number;
  /** When the record began: its times count from here. */
  readonly launchedMs: number;
  readonly endedMs: number;
  /** Process numbers of this run. */
  readonly pids: readonly NumberRange[];
  /** By path, for what was changed or opened for writing. A path that is missing here could not be looked at. */
  readonly finalStates: ReadonlyMap<string, FinalState>;
  /** What lies below directories that were moved, by their new path: paths relative to it, directories included. */
  readonly movedContents: ReadonlyMap<string, readonly string[]>;
  /** What the program looked for and did not find, since the sandbox keeps it out of sight. */
  readonly hidden: readonly string[];
  readonly policy: { readonly name: string; readonly isDefault: boolean };
  readonly mode: 'containment' | 'dry-run';
  readonly network: string;
  readonly layers: readonly { layer: string; status: string; reason: string }[];
  readonly environment: { readonly passed: readonly string[]; readonly removed: readonly string[] };
  /** Distinct events that were folded into their directories, since there were too many. */
  readonly overflow: readonly Overflow[];
  /** Of a run with doors to the network. */
  readonly egress?: EgressTotals | undefined;
}

export interface RunEnd {
  readonly exitCode: number;
  readonly signal: number;
  readonly isTimedOut: boolean;
  readonly limit: string;
  readonly execError: string | undefined;
}
