/*
 * The evidence bundle as it stands in the file: `docs/bundle-format.md` says what each part means.
 */

import type { EndData } from './event-data.ts';

export const BUNDLE_FORMAT = 'assay.sandbox-bundle.v1';
export const BUNDLE_SOURCE = 'urn:assay:sandbox';
export const MANIFEST_NAME = 'manifest.json';
export const EVENTS_NAME = 'events.ndjson';

export const ALGORITHMS = {
  canon: 'jcs-rfc8785',
  hash: 'sha256',
  root: String.raw`sha256(concat(content_hash + "\n"))`,
} as const;

export interface BundleFile {
  readonly path: string;
  /** With the prefix `sha256:`. */
  readonly sha256: string;
  readonly bytes: number;
}

/** What only bundles of a sandboxed run have. */
export interface SandboxIdentity {
  readonly format: typeof BUNDLE_FORMAT;
  /** With the prefix `sha256:`; the run id is made of its first 16 digits. */
  readonly run_digest: string;
  readonly policy: { readonly name: string; readonly digest: string };
  readonly mode: string;
  readonly level: string;
  /** By surface: complete, partial or absent. */
  readonly coverage: Readonly<Record<string, string>>;
  readonly non_claims: readonly string[];
  /** Here too, since the digest of the run has it before the lines, and a reader has them one after the other. */
  readonly end: EndData;
}

export interface BundleManifest {
  readonly schema_version: 1;
  /** The same as the run root. */
  readonly bundle_id: string;
  readonly producer: {
    readonly name: string;
    readonly version: string;
    readonly git?: string | undefined;
  };
  readonly run_id: string;
  readonly event_count: number;
  readonly run_root: string;
  readonly algorithms: { readonly canon: string; readonly hash: string; readonly root: string };
  readonly files: Readonly<Record<string, BundleFile>>;
  readonly sandbox?: SandboxIdentity | undefined;
  /** Of the canonical JSON of the manifest without this. */
  readonly seal?: string | undefined;
}

/** A CloudEvent with the extensions of the format. */
export interface BundleEvent {
  readonly specversion: '1.0';
  readonly type: string;
  readonly source: string;
  /** The run id, a colon and the sequence number. */
  readonly id: string;
  /** When it was first seen. The only part in which equal runs differ. */
  readonly time: string;
  readonly datacontenttype: string;
  readonly subject?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly assayrunid: string;
  readonly assayseq: number;
  readonly assayproducer: string;
  readonly assayproducerversion: string;
  readonly assaygit: string;
  readonly assaypolicyid?: string | undefined;
  readonly assaypii: boolean;
  readonly assaysecrets: boolean;
  readonly assaycontenthash: string;
  readonly data: unknown;
}
