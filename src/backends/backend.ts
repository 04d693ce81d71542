import type { Sandbox } from './sandbox.ts';
import type { KERNELS, LIMIT_NAMES, SandboxSpec } from './spec.ts';

export const BACKEND_IDS = ['local', 'docker', 'gvisor', 'microvm', 'wasm'] as const;
export type BackendId = (typeof BACKEND_IDS)[number];

export const LANGUAGES = ['python', 'javascript', 'typescript', 'bash'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A driver: makes sandboxes of one kind. Holds no sandbox itself. */
export interface SandboxBackend {
  readonly id: BackendId;
  /** Says what there is and what it guarantees here. Never throws; starts no code of anybody's. */
  probe(options?: { readonly signal?: AbortSignal | undefined }): Promise<BackendReport>;
  /**
   * Makes a sandbox, or throws a `SandboxError`: `backend_unavailable` with the way to get it, `policy_unenforceable`
   * with each item that this backend cannot guarantee. Nothing has run then, and nothing is left.
   */
  create(
    spec: SandboxSpec,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Sandbox>;
  /** Removes what supervisors that were killed have left: processes, containers, mounts, directories. */
  sweep(): Promise<SweepReport>;
}

export interface SweepReport {
  /** A line for each thing that was removed. */
  readonly removed: readonly string[];
  readonly problems: readonly string[];
}

export interface BackendReport {
  readonly id: BackendId;
  readonly isAvailable: boolean;
  /** Such as `dockerd 20.10.24, runc 1.1.5`. */
  readonly engine?: string | undefined;
  /** Why it is not available, or what is weaker here than it could be. */
  readonly reasons: readonly string[];
  /** How to get it; only where it is not available. */
  readonly hint?: string | undefined;
  readonly guarantees: Guarantees;
  /** The languages that it can run here, and by which program. */
  readonly languages: Readonly<Partial<Record<Language, Runtime>>>;
}

export interface Runtime {
  /** The program and its flags; the path of the code follows. */
  readonly argv: readonly string[];
  readonly version?: string | undefined;
}

export type LimitName = (typeof LIMIT_NAMES)[number];
/** Hard: the kernel or the engine keeps it. Soft: somebody looks from time to time. */
export type LimitStrength = 'hard' | 'soft' | 'none';
export type Coverage = 'complete' | 'partial' | 'absent';
export type Surface = 'files' | 'programs' | 'network' | 'environment';

export interface Guarantees {
  readonly kernel: (typeof KERNELS)[number];
  /** Allow-list: the host's tree with everything closed but what is named. Separate: a tree of its own. */
  readonly files: 'allow-list' | 'separate-root' | 'given-map';
  readonly workspace: readonly ('ro' | 'rw' | 'copy')[];
  /** Names: by host name, address and port, through assay's doors. */
  readonly network: 'none' | 'names';
  readonly limits: Readonly<Record<LimitName, LimitStrength>>;
  /** What of a run is in its evidence. */
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  readonly hasImages: boolean;
  readonly hasModuleList: boolean;
  readonly hasEvalSwitch: boolean;
}
