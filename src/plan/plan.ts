import type { Namespace } from '../host/facts.ts';
import type { FsRule } from '../policy/policy.ts';
import type { LandlockPlan } from './landlock.ts';
import type { Rlimit } from './limits.ts';
import type { FilterRequest } from './seccomp/filter-request.ts';

/** The layers that `--layers` can leave out, in the order of the banner. */
export const LAYERS = [
  'landlock',
  'seccomp',
  'broker',
  'user',
  'mount',
  'pid',
  'ipc',
  'net',
  'nft',
  'cgroup',
  'rlimits',
] as const;
export type Layer = (typeof LAYERS)[number];

export type LayerStatus = 'enforced' | 'partial' | 'absent';

export interface LayerReport {
  readonly layer: Layer;
  readonly status: LayerStatus;
  /** Why it is not fully enforced; empty when it is. */
  readonly reason: string;
}

/** A rule that nothing on this host enforces. The rest of the policy stays enforced. */
export interface Degradation {
  readonly rule: string;
  readonly reason: string;
}

/** One step of building the file view inside the private mount namespace, performed in order. */
export type MountOp =
  /** Replace a directory by an empty read-only one; only what later steps expose is visible in it. */
  | { readonly kind: 'hide'; readonly path: string }
  /** An empty directory inside a hidden one. */
  | { readonly kind: 'directory'; readonly path: string }
  /** Show the host's `source` at `path`, inside a hidden or read-only place. */
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly path: string;
      readonly isWritable: boolean;
      readonly canExec: boolean;
    }
  /** Cover an existing path so that it can be neither read nor written. */
  | { readonly kind: 'mask'; readonly path: string }
  | {
      readonly kind: 'tmpfs';
      readonly path: string;
      readonly sizeBytes: number;
      readonly inodes: number;
      /** Mode 1777, as /dev/shm has, instead of 0700. */
      readonly isShared: boolean;
    }
  /** A file of our own in place of the host's. */
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  /** Its own processes only; process numbers stay below `pidMax` unless that is 0, and start at `firstPid` likewise. */
  | { readonly kind: 'proc'; readonly pidMax: number; readonly firstPid: number }
  | { readonly kind: 'devpts' };

/** Places with the same rights. */
export interface LandlockRules {
  readonly access: number;
  readonly paths: readonly string[];
}

/** What the broker checks on the canonical path of every operation it performs: rules that differ in their pattern only. */
export interface BrokerRules {
  /** Of the first rule; the others count up. A lift bears the id of the rule that it lifts. */
  readonly firstId: number;
  readonly effect: 'allow' | 'deny' | 'protect' | 'lift';
  /** read 1, write 2, exec 4, connect (unix socket) 8. */
  readonly ops: number;
  readonly patterns: readonly string[];
  readonly rules: readonly FsRule[];
}

export type PlanFlag =
  | 'isCapsDropped'
  /** The filter hands calls to the broker. */
  | 'isNotified'
  /** No pid namespace: the tree is ended by search. */
  | 'isGated'
  | 'isRootReadOnly'
  /** Read-only opens are looked at and left to the kernel. */
  | 'isReadProbed'
  | 'isGitGuarded'
  /** A kernel with more Landlock than planned is to be told, too. */
  | 'isAbiExact'
  /** What no rule allows is refused by the broker, not left to the kernel. */
  | 'isAllowListKept'
  /** What happens is written down, not only what is refused. */
  | 'isRecorded'
  /** Nothing is refused. */
  | 'isObserveOnly'
  /** Some reads that the kernel allows are refused by the broker. */
  | 'isReadJudged'
  /** Doors to the network are opened, and handed over on descriptor 4. */
  | 'hasDoors'
  /** Connections to the ranges of the doors are led to one. */
  | 'isTransparent'
  /** The broker alone connects, and asks on descriptor 4 where to. */
  | 'isBrokered'
  /** Each address of the ranges gets a door when the program connects to it. */
  | 'hasLazyDoors'
  /** The host's network is not the program's: nothing that it inherits may lead there. */
  | 'isOffNetwork'
  /** No copy can be had of a program's descriptors. */
  | 'hasNoCopies';

/** What is to be written down of a run: everything that changes something, or reads as well. */
export type Recording = 'none' | 'effects' | 'all';

export const SOFT_LIMITS = ['cpuMs', 'memoryBytes', 'diskBytes', 'pids'] as const;
export type SoftLimit = (typeof SOFT_LIMITS)[number];

/** Everything the helper needs to know, as decided by the planner. */
export interface LaunchPlan {
  readonly flags: Readonly<Partial<Record<PlanFlag, boolean>>>;
  readonly namespaces: readonly Namespace[];
  readonly uid: number;
  readonly gid: number;
  readonly parentPid: number;
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly banner: string;
  /** Where the private tmp is outside, and where it is seen inside. */
  readonly scopedDir: string;
  readonly privateTmp: readonly string[];
  /** What else is shown inside those places; it is not private. */
  readonly sharedInTmp: readonly string[];
  readonly mounts: readonly MountOp[];
  readonly landlock: LandlockPlan | null;
  readonly filter: FilterRequest | null;
  readonly brokerRules: readonly BrokerRules[];
  /** Addresses that lead to a door, in CIDR form; of loopback with the ports: `127.0.0.1/32 8080-8080`. */
  readonly doorRanges: readonly string[];
  readonly maxFiles: number;
  /** Where process numbers start, when they are given from a number of their own; else 0. */
  readonly firstPid: number;
  readonly rlimits: readonly Rlimit[];
  readonly cgroups: readonly string[];
  readonly softLimits: Readonly<Partial<Record<SoftLimit, number>>>;
  readonly timeoutMs: number;
  readonly graceMs: number;
}
