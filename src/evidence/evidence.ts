import type { Coverage, ObserveLevel } from '../observe/event.ts';
import type { ChangeSet } from './changes.ts';
import type { Needs } from './needs.ts';

/*
 * The evidence profile, key by key as it stands in the file. Paths are normalised; lists are sorted and hold each thing
 * once. Nothing here depends on the day, the directory, the user or the order of events; what does is in the run block.
 */

export const EVIDENCE_VERSION = '1.0';
export const EVIDENCE_KIND = 'assay.evidence-profile';

/** By operation and outcome: the images of the programs that did it. */
export type Operations = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export interface ProcessEntry {
  /** Of the image, as it was when it ran; several, when it was changed in between. */
  readonly digests: readonly string[];
  /** Images of the programs that started it; `assay` for the command itself. */
  readonly parents: readonly string[];
  /** Scripts that it ran as their interpreter. */
  readonly scripts: readonly string[];
}

/** A rename, a hard link, or a symbolic link with its text. */
export interface Link {
  readonly op: 'rename' | 'link' | 'symlink';
  readonly from: string;
  readonly to: string;
}

export interface Entries {
  /** By path. A rename and a hard link stand at both ends: `rename` and `rename-target`. */
  readonly files: Readonly<Record<string, Operations>>;
  /** By endpoint, such as `tcp:example.org:443`, `tcp:127.0.0.1:80`, `dns:example.org` or `unix:${TMPDIR}/s`. */
  readonly network: Readonly<Record<string, Operations>>;
  /** By image. */
  readonly processes: Readonly<Record<string, ProcessEntry>>;
  readonly links: readonly Link[];
  /** Directories with so many distinct events that they were not kept one by one. */
  readonly folded: readonly {
    readonly op: string;
    readonly directory: string;
    readonly outcome: string;
    readonly program: string;
  }[];
}

export interface RefusalEntry {
  readonly op: string;
  /** A path, or an endpoint. */
  readonly subject: string;
  readonly outcome: string;
  /** Null when nothing allows it. */
  readonly rule: string | null;
  readonly programs: readonly string[];
}

export type Verdict =
  /** Enforced, and nothing was refused. */
  | 'held'
  /** Enforced, and it had something to refuse. */
  | 'refused attempts'
  /** Enforced but for what `reasons` says. */
  | 'partly enforced'
  | 'not enforced';

export interface Control {
  readonly verdict: Verdict;
  /** What is not enforced, and why. */
  readonly reasons: readonly string[];
  /** What was allowed and used: endpoints, or directories that were written in. */
  readonly used: readonly string[];
  /** How many distinct attempts were refused. */
  readonly refused: number;
  readonly coverage: string;
}

export interface Controls {
  readonly egress: Control;
  readonly writes: Control;
  readonly configuration: Control;
}

export interface EvidenceContent {
  readonly version: typeof EVIDENCE_VERSION;
  readonly kind: typeof EVIDENCE_KIND;
  readonly name: string;
  readonly run_ids: readonly string[];
  readonly total_runs: number;
  readonly command: readonly string[];
  readonly level: ObserveLevel;
  readonly mode: string;
  readonly policy: { readonly name: string; readonly default: boolean };
  readonly network: string;
  readonly end: {
    readonly exit_code: number;
    readonly signal: number;
    readonly timed_out: boolean;
    readonly limit: string | null;
    readonly exec_error: string | null;
  };
  readonly counters: Readonly<Record<string, number>>;
  readonly controls: Controls;
  /** What did not happen. Only of surfaces that were watched completely. */
  readonly statements: readonly string[];
  readonly entries: Entries;
  /** Net of everything: what a scan before and after would show. Without the private tmp. */
  readonly changes: ChangeSet;
  readonly refusals: readonly RefusalEntry[];
  readonly environment: { readonly passed: readonly string[]; readonly removed: readonly string[] };
  readonly limits: readonly string[];
  readonly sandbox_degradations: readonly { readonly rule: string; readonly reason: string }[];
  readonly layers: readonly {
    readonly layer: string;
    readonly status: string;
    readonly reason: string;
  }[];
  readonly coverage: Coverage;
  readonly normalisation: readonly {
    readonly name: string;
    readonly applies_to: string;
    readonly does: string;
    readonly hides: string;
  }[];
}

/** Facts of this one run, which the next one does not share. */
export interface RunFacts {
  readonly created_at: string;
  readonly finished_at: string;
  readonly duration_ms: number;
  readonly assay_version: string;
  readonly host: Readonly<Record<string, string>>;
  readonly user: string;
  readonly directories: { readonly cwd: string; readonly home: string; readonly tmpdir: string };
  readonly run_digest: string;
  readonly system_reads_digest: string;
  /** How often, where it was more than once: by operation and subject, the most frequent ones. */
  readonly hits: Readonly<Record<string, number>>;
  /** How often each image was started. */
  readonly starts: Readonly<Record<string, number>>;
  /** Digests of images that the run itself has made, by their real names: they may differ from run to run. */
  readonly built_digests: Readonly<Record<string, readonly string[]>>;
  /** Distinct command lines of programs, by image, redacted; the first few. */
  readonly commands: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** What rules have folded: the form, how many names share it, and by which rules. */
  readonly masked: readonly {
    readonly path: string;
    readonly count: number;
    readonly rules: readonly string[];
  }[];
  /** Changed paths by their real names, where the content shows another form or, as for the journal of a database, none. */
  readonly real_changes: ChangeSet;
  /** Changed as far as the events tell; how they ended could not be looked at. */
  readonly unverified_changes: readonly string[];
  /** What was left in the private tmp. */
  readonly temporary: Readonly<Record<keyof ChangeSet, number>>;
  readonly folded: readonly {
    readonly op: string;
    readonly directory: string;
    readonly count: number;
    readonly digest: string;
  }[];
  /** Through the doors to the network, by endpoint; the first few. */
  readonly connections: Readonly<Record<string, RunConnection>>;
  /** Refused attempts as they were made; the first few. */
  readonly refusals: readonly RunRefusal[];
  /** What was looked for and not found, since the sandbox keeps it out of sight. */
  readonly hidden: readonly string[];
  /** What a policy has to grant for a run like this one. */
  readonly needs: Needs;
}

export interface RunConnection {
  readonly count: number;
  readonly refused: number;
  readonly bytes_sent: number;
  readonly bytes_received: number;
  /** Of all connections, one after another. */
  readonly duration_ms: number;
  /** What was dialled. */
  readonly addresses: readonly string[];
  /** `http`, `socks`, `transparent` or `broker`. */
  readonly doors: readonly string[];
  /** Rules that allowed it or refused it. */
  readonly rules: readonly string[];
  readonly notes: readonly string[];
}

export interface RunRefusal {
  readonly op: string;
  readonly subject: string;
  readonly rule: string | null;
  readonly layer: string;
  readonly count: number;
  /** What would have allowed it, where something would. */
  readonly hint: string | null;
}

export type Evidence = EvidenceContent & {
  /** Of the canonical JSON of everything but this and `run`. */
  readonly digest: string;
  readonly run: RunFacts & {
    /** Of the canonical JSON of the rest of the run block. */
    readonly digest: string;
  };
};
