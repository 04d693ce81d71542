import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule } from '../policy/policy.ts';
import { SYSTEM_SOURCE } from '../policy/system-baseline.ts';
import type { FileTree } from './file-tree.ts';
import type { MountOp } from './plan.ts';

/** Where systems keep the authorities that they trust, in one file. */
export const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
] as const;

const OWN_NAME = 'assay-ca.pem';

/** What programs look at to learn whom to trust. They take a file with all authorities, and the first few nothing else. */
const VARIABLES = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'BUNDLE_SSL_CA_CERT',
  'DENO_CERT',
  'NIX_SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
] as const;

/** How a program that is to trust the authority of this run comes to do so. */
export interface TrustPlan {
  /** The file, as the program sees it. */
  readonly path: string;
  readonly text: string;
  /** Nothing is mounted: the file is written into the private tmp, at its path. */
  readonly isWritten: boolean;
}

export interface TrustInput {
  /** The user's authorities, and that of the run; undefined when no TLS is opened. */
  readonly text: string | undefined;
  readonly tree: FileTree;
  readonly hasMount: boolean;
  readonly tmpdir: string;
}

/** In place of the system's own file, so that programs which know nothing of variables find it, too. */
export function planTrust({ text, tree, hasMount, tmpdir }: TrustInput): TrustPlan | null {
  if (text === undefined) return null;
  if (!hasMount) return { path: `${tmpdir}/${OWN_NAME}`, text, isWritten: true };
  const real = SYSTEM_ROOTS.map((path) => tree.realpath(path)).find((path) => path !== null);
  return { path: real ?? `/tmp/${OWN_NAME}`, text, isWritten: false };
}

export function planTrustFile(trust: TrustPlan | null): (MountOp & { readonly kind: 'file' })[] {
  return !trust || trust.isWritten ? [] : [{ kind: 'file', path: trust.path, text: trust.text }];
}

/** The file may lie behind a link, in a place that no rule shows. */
export function makeTrustRules(trust: TrustPlan | null): FsRule[] {
  if (!trust || trust.isWritten) return [];
  const origin = { source: SYSTEM_SOURCE, key: 'fs.read', text: trust.path };
  return [{ effect: 'allow', rights: ['read'], pattern: escapeLiteral(trust.path), origin }];
}

/** What the policy sets stays. */
export function addTrustVariables(
  env: readonly (readonly [string, string])[],
  trust: TrustPlan | null,
  set: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  if (!trust) return env;
  const own = VARIABLES.filter((name) => !Object.hasOwn(set, name));
  const names = new Set<string>(own);
  return [
    ...env.filter(([name]) => !names.has(name)),
    ...own.map((name) => [name, trust.path] as const),
  ];
}
