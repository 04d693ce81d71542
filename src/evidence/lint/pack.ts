import type { Severity } from './rule.ts';

/** A rule pack as it stands in its file: see docs/evidence-lint.md. */
export interface Pack {
  readonly name: string;
  readonly version: string;
  readonly kind: PackKind;
  readonly description: string;
  readonly author: string;
  readonly license: string;
  readonly source_url?: string | undefined;
  readonly disclaimer?: string | undefined;
  readonly requires: {
    readonly assay_min_version: string;
    readonly evidence_schema_version?: string | undefined;
  };
  readonly rules: readonly PackRule[];
}

export const PACK_KINDS = ['compliance', 'security', 'quality'] as const;

export type PackKind = (typeof PACK_KINDS)[number];

export interface PackRule {
  readonly id: string;
  readonly severity: Severity;
  readonly description: string;
  readonly article_ref?: string | undefined;
  readonly help_markdown?: string | undefined;
  readonly check: PackCheck;
  readonly engine_min_version?: string | undefined;
  readonly event_types?: readonly string[] | undefined;
}

/** Any value of JSON. */
export interface PackValue {
  readonly value: unknown;
}

export type PackCheck =
  | { readonly type: 'event_count'; readonly min: number }
  | {
      readonly type: 'event_pairs';
      readonly start_pattern: string;
      readonly finish_pattern: string;
    }
  /** `any_of` with `in_data` has been made one with `paths_any_of`. */
  | { readonly type: 'event_field_present'; readonly paths: readonly string[] }
  | { readonly type: 'event_type_exists'; readonly pattern: string }
  | { readonly type: 'manifest_field'; readonly path: string; readonly required: boolean }
  | {
      readonly type: 'json_path_exists';
      readonly paths: readonly string[];
      readonly value_equals?: PackValue | undefined;
    }
  | { readonly type: 'g3_authorization_context_present' }
  | {
      readonly type: 'conditional';
      readonly all: readonly { readonly path: string; readonly equals: PackValue }[];
      readonly path: string;
    }
  /** Of an engine to come. */
  | { readonly type: 'unsupported'; readonly name: string };

/** The version of the check language that is understood here. */
export const ENGINE_VERSION = '1.2';

/**
 * `assay_min_version` counts the releases of the system that the format comes from. What packs can ask for is what that
 * release has.
 */
export const COMPATIBLE_VERSION = '5.4.0';

export const EVIDENCE_SCHEMA_VERSION = '1.0';
