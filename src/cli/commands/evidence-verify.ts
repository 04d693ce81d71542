import { toPrintableJson } from '../../core/printable.ts';
import { AssayError } from '../../core/errors.ts';
import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import { BundleError } from '../../evidence/bundle/bundle-error.ts';
import { EVENT_TYPES, type PolicyData } from '../../evidence/bundle/event-data.ts';
import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import { Findings } from '../../evidence/claims/findings.ts';
import {
  judgeRequirement,
  type RequirementResult,
} from '../../evidence/claims/judge-requirements.ts';
import { parseRequirements, type Requirement } from '../../evidence/claims/requirement.ts';
import { SurfaceReader, type Surfaces } from '../../evidence/claims/surfaces.ts';
import { parseTrustedKeys, type TrustedKey } from '../../core/keys/trusted-keys.ts';
import { scanBundle } from '../bundle-file.ts';
import {
  type ExpectedPolicy,
  loadExpectedPolicy,
  makePolicyCheck,
} from '../evidence-verify/policy-check.ts';
import {
  type Check,
  chooseVerdict,
  listNonClaims,
  type VerifyReport,
} from '../evidence-verify/report.ts';
import {
  makeSignatureChecks,
  readSignature,
  type SignatureSource,
} from '../evidence-verify/signature-check.ts';
import { formatVerifyReport } from '../evidence-verify/text.ts';
import { readKeyFile } from '../key-file.ts';
import type { ParsedCommand } from '../parse.ts';

interface Asked {
  readonly bundle: string;
  readonly signature: SignatureSource;
  readonly policy: ExpectedPolicy | undefined;
  readonly requirements: readonly Requirement[];
}

/** `assay evidence verify`: a short list of checks, and what they add up to. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [bundle = '-'] = rest;
  if (rest.length === 0 && process.stdin.isTTY)
    throw new AssayError('E_USAGE', '`evidence verify` needs a BUNDLE', {
      hint: 'Name a file, or pipe one in',
    });
  const requirements = parseRequirements(flags.list('require'));
  const keys = readKeys(flags.list('key'));
  const signature = readSignature(flags.text('signature'), { bundle, keys });
  const file = flags.text('policy');
  const policy = file === undefined ? undefined : await loadExpectedPolicy(file);
  const asked = { bundle, signature, policy, requirements };
  if (!flags.has('json')) {
    const report = await verify(asked);
    process.stdout.write(formatVerifyReport(report));
    return report.exitCode;
  }
  const report = await verify(asked).catch((error: unknown) => describeFailure(bundle, error));
  process.stdout.write(`${toPrintableJson(report, 2)}\n`);
  return report.exitCode;
}

/** Two files may hold the same key. */
function readKeys(files: readonly string[]): readonly TrustedKey[] {
  const now = new Date();
  const keys = files.flatMap((file) => parseTrustedKeys(readKeyFile(file), { file, now }));
  return [...new Map(keys.map((key) => [key.keyId, key])).values()];
}

/** What was seen while the events went by. It counts only once the whole bundle is known to be intact. */
class Seen {
  readonly findings = new Findings();
  readonly surfaces = new SurfaceReader();
  policy: PolicyData | undefined;
  degradations = 0;
  readonly #isJudged: boolean;

  constructor({ requirements }: Pick<Asked, 'requirements'>) {
    this.#isJudged = requirements.length > 0;
  }

  add(event: BundleEvent): void {
    if (this.#isJudged) this.findings.add(event);
    this.surfaces.add(event);
    if (event.type === EVENT_TYPES.policy) this.policy = event.data as PolicyData;
    if (event.type === EVENT_TYPES.degraded) this.degradations += 1;
  }
}

async function verify(asked: Asked): Promise<VerifyReport> {
  const seen = new Seen(asked);
  const verified = await scanBundle(asked.bundle, { onEvent: (event) => seen.add(event) });
  const surfaces = seen.surfaces.read(verified.manifest);
  const signature = makeSignatureChecks(asked.signature, verified);
  const isSigned = signature.endorsements.length > 0;
  const policy =
    asked.policy &&
    makePolicyCheck({
      expected: asked.policy,
      bundle: verified,
      inBundle: seen.policy,
      degradations: seen.degradations,
    });
  const requirements = asked.requirements.map((requirement) =>
    judgeRequirement(requirement, { findings: seen.findings, surfaces }),
  );
  const checks: Check[] = [
    ...verified.checks.map((check) => toIntegrityCheck(check, verified.kind)),
    ...signature.checks,
    ...(policy ? [policy.check] : []),
    ...noteMode(verified.manifest),
    describeCoverage(surfaces),
    ...requirements.map(toCheck),
  ];
  return {
    schema: 'assay.evidence-verify.v1',
    bundle: asked.bundle,
    ...chooseVerdict(checks, { isSigned }),
    subject: describeSubject(verified),
    checks: checks.map(({ name, status, detail }) => ({ name, status, detail })),
    signers: signature.endorsements.map(({ key, predicateType, subjectName }) => ({
      keyId: key.keyId,
      name: key.name,
      file: key.file,
      predicateType,
      subjectName,
    })),
    policy:
      asked.policy && policy
        ? { file: asked.policy.file, digest: asked.policy.digest, ...policy.difference }
        : null,
    coverage: surfaces,
    requirements,
    notClaimed: listNonClaims(verified.manifest.sandbox?.non_claims ?? [], isSigned),
    error: null,
  };
}

function describeSubject({
  kind,
  sha256,
  bytes,
  manifest,
}: VerifiedBundle): VerifyReport['subject'] {
  const { run_id: runId, run_root: runRoot, producer, sandbox } = manifest;
  return {
    kind,
    sha256,
    bytes,
    runId,
    runRoot,
    producer: { name: producer.name, version: producer.version },
    policyDigest: sandbox?.policy.digest ?? null,
  };
}

/** What the older format leaves open is no fault of the bundle, and is not ticked off. */
function toIntegrityCheck(
  { name, detail }: VerifiedBundle['checks'][number],
  kind: VerifiedBundle['kind'],
): Check {
  const isOpen = kind === 'upstream' && (name === 'run' || name === 'identity');
  return { name, status: isOpen ? 'note' : 'passed', detail };
}

/** What was required may hold all the same; but nothing held the program to it, or to the truth. */
function noteMode({ sandbox }: BundleManifest): Check[] {
  if (sandbox === undefined || sandbox.mode === 'containment') return [];
  const detail = 'a dry run: there was no boundary, so the program could also harm the record';
  return [{ name: 'mode', status: 'note', detail }];
}

function describeCoverage(surfaces: Surfaces): Check {
  const states = Object.entries(surfaces);
  const isWhole = states.every(([, { status }]) => status === 'complete');
  return {
    name: 'coverage',
    status: isWhole ? 'passed' : 'note',
    detail: states.map(([name, { status }]) => `${name} ${status}`).join(', '),
  };
}

function toCheck({ requirement, status, detail }: RequirementResult): Check {
  const name = requirement;
  if (status === 'met') return { name, status: 'passed', detail };
  const verdict =
    status === 'violated' ? 'requirement not met' : 'requirement not supported by coverage';
  return { name, status: 'failed', detail, verdict };
}

function describeFailure(bundle: string, error: unknown): VerifyReport {
  if (!(error instanceof BundleError)) throw error;
  const { code, reason, message, at, exitCode } = error;
  return {
    schema: 'assay.evidence-verify.v1',
    bundle,
    verdict: 'not intact',
    exitCode,
    subject: null,
    checks: [{ name: at?.member ?? 'container', status: 'failed', detail: message }],
    signers: [],
    policy: null,
    coverage: null,
    requirements: [],
    notClaimed: listNonClaims([], false),
    error: { code, reason, message, at: at ?? null },
  };
}
