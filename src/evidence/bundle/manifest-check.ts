import { canonicalJson } from '../../core/canonical-json.ts';
import { runIdOf } from '../run-digest.ts';
import {
  ALGORITHMS,
  BUNDLE_FORMAT,
  EVENTS_NAME,
  MANIFEST_NAME,
  type BundleFile,
  type BundleManifest,
  type SandboxIdentity,
} from './bundle.ts';
import { BundleError, type BundleCode } from './bundle-error.ts';
import { computeSeal, HASH_PREFIX } from './content-hash.ts';
import { decodeText, refuseLooseJson } from './json-check.ts';
import type { BundleLimits } from './limits.ts';
import {
  findShapeProblem,
  isArrayOf,
  isCount,
  isHash,
  isRecord,
  isString,
  optional,
  optionalOrNull,
  type Shape,
} from './shape.ts';

const PLACE = { member: MANIFEST_NAME };

const MANIFEST: Shape = {
  schema_version: isCount,
  bundle_id: isString,
  producer: isRecord,
  run_id: isString,
  event_count: isCount,
  run_root: isString,
  algorithms: isRecord,
  files: isRecord,
};
const PRODUCER: Shape = { name: isString, version: isString, git: optionalOrNull(isString) };
const OUR_PRODUCER: Shape = { ...PRODUCER, git: optional(isString) };
const NAMES: Shape = { canon: isString, hash: isString, root: isString };
const FILE: Shape = { path: isString, sha256: isString, bytes: isCount };
const OUR_FILE: Shape = { ...FILE, sha256: isHash };
const SANDBOX: Shape = {
  format: isString,
  run_digest: isHash,
  policy: isRecord,
  mode: isString,
  level: isString,
  coverage: isRecord,
  non_claims: isArrayOf(isString),
  end: isRecord,
};
const POLICY: Shape = { name: isString, digest: isHash };
const OUR_KEYS = new Set([...Object.keys(MANIFEST), 'sandbox', 'seal']);

export interface CheckedManifest {
  readonly manifest: BundleManifest;
  readonly kind: 'sandbox' | 'upstream';
}

/** Reads the manifest and checks everything about it that needs no event. */
export function checkManifest(bytes: Uint8Array, limits: BundleLimits): CheckedManifest {
  const text = decodeText(bytes, PLACE);
  refuseLooseJson(text, { limits, isExact: false, at: PLACE });
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw refuse('ContractInvalidJson', 'The manifest is not an object');
  requireShape(value, MANIFEST, 'the manifest');
  const manifest = value as unknown as BundleManifest;
  if (manifest.schema_version !== 1)
    throw refuse(
      'ContractSchemaVersion',
      `The manifest has schema version ${manifest.schema_version}; only 1 is known`,
    );
  requireShape(manifest.producer, PRODUCER, 'the producer');
  requireShape(manifest.algorithms, NAMES, 'the algorithms');
  for (const file of Object.values(manifest.files)) requireShape(file, FILE, 'a file');
  // A seal alone is a bundle of ours from which the rest was taken.
  if (manifest.sandbox === undefined && manifest.seal === undefined)
    return { manifest, kind: 'upstream' };
  refuseLooseJson(text, { limits, isExact: true, at: PLACE });
  if (canonicalJson(value) !== text)
    throw refuse('ContractNotCanonical', 'The manifest is not canonical JSON');
  checkSandboxManifest(manifest, value);
  return { manifest, kind: 'sandbox' };
}

function checkSandboxManifest(manifest: BundleManifest, value: object): void {
  if (manifest.sandbox === undefined)
    throw refuse('IntegrityIdentity', 'The manifest is sealed, but has no sandbox');
  if (manifest.seal === undefined) throw refuse('IntegritySeal', 'The manifest has no seal');
  if (computeSeal(manifest) !== manifest.seal)
    throw refuse('IntegritySeal', 'The manifest is not the one that was sealed');
  const unknown = Object.keys(value).find((name) => !OUR_KEYS.has(name));
  if (unknown !== undefined)
    throw refuse('ContractManifest', `The manifest has a member that is not known: "${unknown}"`);
  const problem =
    findShapeProblem(manifest.producer, OUR_PRODUCER, { isExact: true }) ??
    findShapeProblem(manifest.algorithms, NAMES, { isExact: true });
  if (problem !== undefined) throw refuse('ContractManifest', `In the manifest: ${problem}`);
  checkIdentity(manifest, manifest.sandbox);
  for (const name of ['canon', 'hash', 'root'] as const)
    if (manifest.algorithms[name] !== ALGORITHMS[name])
      throw refuse('ContractAlgorithm', `The manifest names an algorithm that is not known`);
  const names = Object.keys(manifest.files);
  const listed = listedEvents(manifest);
  if (names.some((name) => name !== EVENTS_NAME) || listed?.path !== EVENTS_NAME)
    throw refuse('ContractManifest', `The manifest does not list exactly ${EVENTS_NAME}`);
  const odd = findShapeProblem(listed, OUR_FILE, { isExact: true });
  if (odd !== undefined) throw refuse('ContractManifest', `In files: ${odd}`);
}

function checkIdentity(manifest: BundleManifest, sandbox: SandboxIdentity): void {
  const problem =
    findShapeProblem(sandbox, SANDBOX, { isExact: true }) ??
    findShapeProblem(sandbox.policy, POLICY, { isExact: true }) ??
    findShapeProblem(sandbox.end, END, { isExact: true }) ??
    (Object.values(sandbox.coverage).every(isString) ? undefined : 'coverage is not text');
  if (problem !== undefined) throw refuse('ContractManifest', `In sandbox: ${problem}`);
  if (sandbox.format !== BUNDLE_FORMAT)
    throw refuse('ContractManifest', `The format "${sandbox.format}" is not known`);
  if (manifest.run_id !== runIdOf(sandbox.run_digest.slice(HASH_PREFIX.length)))
    throw refuse('ContractRunId', 'The run id is not the start of the run digest');
}

/** How a run ended, wherever that is said. */
export const END: Shape = {
  exit_code: (value) => Number.isSafeInteger(value),
  signal: isCount,
  timed_out: (value) => typeof value === 'boolean',
  limit: (value) => value === null || isString(value),
  exec_error: (value) => value === null || isString(value),
};

export function listedEvents(manifest: BundleManifest): BundleFile | undefined {
  return Object.hasOwn(manifest.files, EVENTS_NAME) ? manifest.files[EVENTS_NAME] : undefined;
}

function requireShape(value: unknown, shape: Shape, what: string): void {
  const problem = findShapeProblem(value, shape);
  if (problem !== undefined) throw refuse('ContractInvalidJson', `In ${what}: ${problem}`);
}

function refuse(code: BundleCode, message: string): BundleError {
  return new BundleError(code, message, PLACE);
}
