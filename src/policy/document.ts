import type { Place } from '../core/errors.ts';
import { makeSnippet, type PolicyProblem, type Refusal } from './problems.ts';

/** What a policy file says, checked against the schema. Presets are written as this directly. */
export interface PolicyData {
  readonly api_version?: 'assay/v1';
  readonly extends?: readonly string[];
  readonly fs?: {
    readonly allow?: readonly string[];
    readonly read?: readonly string[];
    readonly write?: readonly string[];
    readonly exec?: readonly string[];
    readonly deny?: readonly string[];
    readonly protect?: readonly string[];
  };
  readonly net?: {
    readonly allow?: readonly (string | HostData)[];
    readonly deny?: readonly string[];
    readonly inject?: readonly InjectData[];
  };
  readonly unix?: { readonly allow?: readonly string[] };
  readonly env?: {
    readonly mode?: 'scrub' | 'strict' | 'passthrough';
    readonly strip_exec?: boolean;
    readonly safe_path?: boolean;
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    readonly set?: Readonly<Record<string, string>>;
  };
  readonly limits?: {
    readonly timeout?: string | number;
    readonly cpu?: string | number;
    readonly memory?: string | number;
    readonly pids?: string | number;
    readonly disk?: string | number;
    readonly files?: string | number;
    readonly open_files?: string | number;
  };
  readonly tests?: readonly ExampleData[];
}

/** A host with rules for its requests, or with an end: at most one of `until` and `for`. */
export interface HostData {
  readonly host: string;
  readonly methods?: readonly string[];
  readonly paths?: readonly string[];
  readonly tls?: boolean;
  readonly until?: string;
  readonly for?: string | number;
}

/** Exactly one of `env` and `command`. */
export interface InjectData {
  readonly host: string;
  readonly header: string;
  readonly env?: string;
  readonly command?: readonly string[];
  readonly tls?: boolean;
}

/** Exactly one of the two: `{ deny: 'fs.read ~/.ssh/id_rsa' }`. */
interface ExampleData {
  readonly allow?: string;
  readonly deny?: string;
}

export interface PolicyDocument {
  /** The path of the file as it was named, or `preset coding-agent`. */
  readonly name: string;
  readonly data: PolicyData;
  /** Undefined for presets. */
  readonly file?: PolicySource | undefined;
}

interface PolicySource {
  readonly path: string;
  readonly text: string;
  /** Where each value stands, by its path in the document: `fs.allow.0`. */
  readonly places: ReadonlyMap<string, Place>;
}

export function placeOf(document: PolicyDocument, key: string): Place | undefined {
  return document.file?.places.get(key);
}

/** `policy.yaml:6:5`, or the name of a document that has no lines. */
export function describePlace(document: PolicyDocument, key: string): string {
  const at = placeOf(document, key);
  return at ? `${at.file}:${at.line}:${at.column}` : document.name;
}

export function toProblem(document: PolicyDocument, key: string, refusal: Refusal): PolicyProblem {
  const at = placeOf(document, key);
  return {
    message: at ? refusal.problem : `${document.name}: ${refusal.problem}`,
    hint: refusal.hint,
    at,
    snippet: at && document.file ? makeSnippet(document.file.text, at) : undefined,
  };
}
