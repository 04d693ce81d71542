/*
 * The events of a sandboxed run by their type, in the order in which they stand in the bundle. Nothing in `data` depends
 * on the day, the directory, the user, the load or the order in which things happened: equal runs have equal data.
 */

export const EVENT_TYPES = {
  started: 'assay.profile.started',
  policy: 'assay.sandbox.policy',
  environment: 'assay.sandbox.environment',
  layers: 'assay.sandbox.layers',
  degraded: 'assay.sandbox.degraded',
  fs: 'assay.sandbox.fs',
  exec: 'assay.sandbox.exec',
  net: 'assay.sandbox.net',
  limit: 'assay.sandbox.limit',
  folded: 'assay.sandbox.folded',
  change: 'assay.sandbox.change',
  coverage: 'assay.sandbox.coverage',
  summary: 'assay.sandbox.summary',
  codingAgent: 'assay.coding_agent.evidence_pack.v0',
  finished: 'assay.profile.finished',
} as const;

const OPERATION_TYPES: Readonly<Record<string, string>> = {
  run: EVENT_TYPES.exec,
  connect: EVENT_TYPES.net,
  bind: EVENT_TYPES.net,
  resolve: EVENT_TYPES.net,
  limit: EVENT_TYPES.limit,
};

/** The type of a line, which follows from its operation: lines are judged by the one, and the run digest holds the other. */
export function typeOfOperation(op: string): string {
  if (op.startsWith('overflow ')) return EVENT_TYPES.folded;
  return (Object.hasOwn(OPERATION_TYPES, op) ? OPERATION_TYPES[op] : undefined) ?? EVENT_TYPES.fs;
}

export interface StartedData {
  readonly profile_name: string;
  readonly profile_version: string;
  readonly total_runs_aggregated: number;
  /** Of assay. */
  readonly version: string;
  readonly command: readonly string[];
  readonly mode: string;
  readonly level: string;
  readonly network: string;
  readonly run_digest: string;
  /** Of the canonical JSON of the manifest without bundle_id, run_root, event_count, files and seal. */
  readonly identity: string;
}

export interface PolicyData {
  readonly name: string;
  readonly default: boolean;
  /** Of the canonical JSON of `policy`, with the prefix `sha256:`. */
  readonly digest: string;
  /** Everything that was in force, presets and flags included, in its general form. */
  readonly policy: unknown;
  /** Where programs of the user lie: what may be read and executed there besides. Not in the digest. */
  readonly toolchain: readonly string[];
}

export interface EnvironmentData {
  readonly passed: readonly string[];
  readonly removed: readonly string[];
}

export interface LayersData {
  readonly layers: readonly {
    readonly layer: string;
    readonly status: string;
    readonly reason: string;
  }[];
}

/** The run id hashes `component: detail`. */
export interface DegradedData {
  /** `policy_conflict` for a rule of the policy, `backend_unavailable` for the rest. */
  readonly reason_code: string;
  readonly degradation_mode: string;
  /** The rule that is not enforced. */
  readonly component: string;
  /** Why. */
  readonly detail?: string | undefined;
}

/**
 * What every fact of a run has: see CanonicalLine. The run id can be computed from these again. Events of the network
 * have no more: `op` is `connect`, `bind` or `resolve`, `path` the endpoint, such as `tcp:example.org:443`,
 * `tcp:127.0.0.1:80` or `dns:example.org`. Nor have limits, with the name in `path`, and what was folded: `op` is `overflow ` and the operation, `digest` that of the names.
 */
export interface LineData {
  readonly op: string;
  /** A path, or an endpoint. */
  readonly path: string;
  readonly target?: string | undefined;
  /** `ok`, or the name of an errno. */
  readonly outcome: string;
  /** The image of the program that did it; `assay` for the command itself. */
  readonly program: string;
  /** The rule that refused it, empty when nothing allows it; absent when it was not refused. */
  readonly refused_by?: string | undefined;
  /** In hex, without a prefix. */
  readonly digest?: string | undefined;
  /** How it is known: `performed`, `observed` or `predicted`, which is said only of what was never seen. */
  readonly basis?: string | undefined;
}

/** `op` is that of a file event, or `exec` for an attempt to execute. */
export interface FsData extends LineData {
  /** Who saw it. */
  readonly backend: string;
  /** One file read in a system directory, which is not part of the run id; the directory is. */
  readonly system?: true | undefined;
}

/** `op` is `run`: a program that ran; `path` its image, `program` the image that started it, `target` its script. */
export interface ExecData extends LineData {
  /** The image; by this name for readers of the older format. */
  readonly argv0: string;
  /** Of the image as it ran, where it is the same in every equal run; with the prefix `sha256:`. */
  readonly image_digests?: readonly string[] | undefined;
  /** How many more there are. */
  readonly image_digests_omitted?: number | undefined;
}

export interface ChangeData {
  readonly change: 'created' | 'modified' | 'removed' | 'attributes';
  /** A directory ends in a slash. */
  readonly path: string;
}

export interface CoverageData {
  readonly surfaces: Readonly<
    Record<string, { readonly status: string; readonly reasons: readonly string[] }>
  >;
}

export interface EndData {
  readonly exit_code: number;
  readonly signal: number;
  readonly timed_out: boolean;
  readonly limit: string | null;
  readonly exec_error: string | null;
}

export interface SummaryData {
  readonly command: readonly string[];
  readonly counters: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
  readonly fs_count: number;
  readonly exec_count: number;
  readonly net_count: number;
  readonly refusal_count: number;
  readonly degradation_count: number;
  readonly controls: unknown;
  readonly statements: readonly string[];
  readonly end: EndData;
}

export interface FinishedData {
  readonly files_count: number;
  readonly network_count: number;
  readonly processes_count: number;
  readonly sandbox_degradation_count: number;
  readonly integrity_scope: string | null;
  readonly end: EndData;
}
