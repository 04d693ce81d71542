import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import type { Fact } from '../bundle/facts.ts';

export const SEVERITIES = ['error', 'warning', 'info'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** What a rule looks for, for people and for machines. */
export interface RuleInfo {
  readonly id: string;
  /** `assay` for a rule of ours; the name and version of a pack for one of its rules. */
  readonly pack: string;
  readonly area: string;
  readonly severity: Severity;
  readonly title: string;
  readonly explanation: string;
  readonly fix: string;
  /** From 0.0 to 10.0, as code scanning sorts by it. */
  readonly securitySeverity?: string | undefined;
  /** The clause of a norm that a pack refers to. */
  readonly reference?: string | undefined;
}

export interface EventPlace {
  readonly seq: number;
  /** In events.ndjson, from 1. */
  readonly line: number;
  readonly type: string;
}

/** One thing that a rule is about. What has the same rule, place and op is one finding, however often it occurs. */
export interface Occurrence {
  /** Where to group: a directory, an endpoint, a name. Empty when it is about the bundle as a whole. */
  readonly place: string;
  /** The kind of operation, such as `write`; empty where there is none. */
  readonly op: string;
  /** What exactly; each is counted once. */
  readonly subject: string;
  /** How it went, and who did it. */
  readonly detail?: string | undefined;
  readonly at?: EventPlace | undefined;
  /** Instead of the title and the place. */
  readonly message?: string | undefined;
  /** Instead of that of the rule. */
  readonly severity?: Severity | undefined;
}

export interface SeenEvent {
  readonly event: BundleEvent;
  readonly fact: Fact;
  readonly at: EventPlace;
  /** The members of `data`, when it is an object. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface BundleContext {
  readonly manifest: BundleManifest;
  /** Whether it is the bundle of a run of ours; the older format says less. */
  readonly isSandbox: boolean;
}

/** Looks at one bundle, event by event, and keeps no more of them than it needs. */
export interface Check {
  event?(seen: SeenEvent): void;
  end?(): void;
}

export type Report = (rule: RuleInfo, occurrence: Occurrence) => void;

/** Rules that need to see the same things. */
export interface Detector {
  readonly rules: readonly RuleInfo[];
  makeCheck(report: Report, context: BundleContext): Check;
}

/** A rule of ours: the area is in its id. */
export function defineRule(rule: Omit<RuleInfo, 'pack'>): RuleInfo {
  return { pack: OWN_PACK, ...rule };
}

export const OWN_PACK = 'assay';
