import { lstatSync, writeFileSync } from 'node:fs';
import { AssayError } from '../core/errors.ts';
import type { ServeDoors } from '../egress/doors.ts';
import type { HostFacts } from '../host/facts.ts';
import { findBrokerRule, FOREIGN_SOCKET } from '../plan/broker.ts';
import { type FileTree, isAtOrBelow } from '../plan/file-tree.ts';
import { READ } from '../plan/grants.ts';
import type { LayerChoice } from '../plan/layers.ts';
import { makePlan, type Plan } from '../plan/make-plan.ts';
import { choosePlanNet } from '../plan/net-plan.ts';
import type { Recording } from '../plan/plan.ts';
import type { FsRule, Policy, Variables } from '../policy/policy.ts';
import { CgroupSet } from './cgroup.ts';
import { correctFacts } from './correct-facts.ts';
import { describeErrno } from './errno.ts';
import type { GitTraces, SetAside } from './git-aftermath.ts';
import { EarlyHelper, wantsEveryNamespace } from './early-helper.ts';
import { type PerformedPlan, performPlan } from './helper.ts';
import type { HelperEnd, HelperReport, RefusalLine } from './report.ts';
import { makeScopedTmp, removeBareTree, removeTree, sweepScopedTmp } from './scoped-tmp.ts';

export interface RunRequest {
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly policy: Policy;
  readonly variables: Variables;
  readonly host: HostFacts;
  readonly tree: FileTree;
  readonly choice: LayerChoice;
  /** Called with each plan before it is tried; throws when the plan is not good enough, and returns the banner. */
  readonly announce: (plan: Plan) => string;
  readonly record?: RecordRequest | undefined;
  /** Certificates that the program is to trust, where TLS is opened. */
  readonly trustedPem?: string | undefined;
  /** Serves the doors to the network of a run that has them; called only then. */
  readonly loadDoors?: (() => Promise<ServeDoors>) | undefined;
  /** Watch, and refuse nothing. */
  readonly isObserveOnly?: boolean | undefined;
  /** The process ends with this run, so that nothing needs to be put back as it was. */
  readonly isLast?: boolean | undefined;
}

export interface RecordRequest {
  readonly recording: Recording;
  readonly onRecord?: ((lines: string) => void) | undefined;
  /** Looks at what the run left while the private tmp is still there. */
  readonly examine?: ((result: RunResult) => Promise<void>) | undefined;
}

export interface Refusal {
  readonly op: string;
  /** As bytes, one code unit each; as names are spelt, once it may be shown. */
  readonly path: string;
  readonly rule: FsRule | undefined;
  /** Why, where it is no matter of rules. */
  readonly reason?: string | undefined;
  /** Not refused by a rule, but kept out of sight. */
  readonly isHidden: boolean;
}

export interface RunResult {
  readonly plan: Plan;
  readonly exitCode: number;
  readonly signal: number;
  readonly isTimedOut: boolean;
  readonly limit: string;
  readonly durationMs: number;
  /** Set when the program itself could not be executed. */
  readonly execError: string | undefined;
  readonly refusals: readonly Refusal[];
  readonly refusalCount: number;
  readonly setAside: readonly SetAside[];
  /** Private directories that could not be removed, and why. */
  readonly leftovers: readonly string[];
  /** Lines of the helper's report that were damaged. */
  readonly damagedLines: number;
  /** Whether the recorder came to its own end. */
  readonly isRecordWhole: boolean;
  /** Why the run broke down after the program had started. What was recorded until then is there. */
  readonly failure?: string | undefined;
  /** What went wrong in serving the doors to the network. */
  readonly doorProblems: readonly string[];
}

/** How a run counts that assay itself could not bring to an end. */
const BROKEN_DOWN: HelperEnd = { code: 125, signal: 0, timedOut: false, limit: '', ms: 0 };

const GRACE_MS = 2000;
const MAX_ATTEMPTS = 8;

/** What the attempts of one run share. */
interface Means {
  readonly leftovers: string[];
  readonly early: EarlyHelper | undefined;
}

async function attempt(
  request: RunRequest,
  plan: Plan,
  { leftovers, early }: Means,
): Promise<PerformedPlan> {
  const banner = request.announce(plan);
  if (plan.trust?.isWritten) writeFileSync(plan.trust.path, plan.trust.text);
  const cgroups = new CgroupSet();
  try {
    const joined = cgroups.make(plan.limits.cgroups, `assay-${process.pid}`);
    const meanwhile = (): void => void leftovers.push(...sweepScopedTmp(request.host.uid));
    const performed = await performPlan(
      { ...plan.launch, banner, cgroups: joined },
      {
        scratch: request.variables.tmpdir,
        early,
        meanwhile,
        onRecord: request.record?.onRecord,
        loadDoors: request.loadDoors,
        isLast: request.isLast,
      },
    );
    if (joined.length > 0) await performed.gone;
    return performed;
  } finally {
    cgroups.close();
  }
}

/** What is not there inside although it is there outside was hidden; what is missing in both places is nobody's doing. */
export function findHidden(
  absent: readonly string[],
  { tmpdir }: Variables,
  { brokerRules }: Plan['launch'],
): Refusal[] {
  if (absent.length === 0) return [];
  const own = ['/tmp/', '/proc/', toLatin1(tmpdir)];
  const shown = listShown(brokerRules);
  return absent
    .filter((path) => !own.some((directory) => path.startsWith(directory)))
    .filter((path) => !shown.some((place) => isAtOrBelow(path, place)))
    .filter((path) => isThere(path))
    .map((path) => ({ op: 'read', path, rule: undefined, isHidden: true }));
}

/** What may be read is shown as it is: whatever is there now, and was not when it was looked for, was made since. */
function listShown(rules: Plan['launch']['brokerRules']): string[] {
  return rules
    .filter(({ effect, ops }) => effect === 'allow' && (ops & READ) !== 0)
    .flatMap(({ patterns }) => patterns.filter((pattern) => !/[*?[{\\]/.test(pattern)))
    .map((pattern) => toLatin1(pattern));
}

function toLatin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isThere(path: string): boolean {
  try {
    return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a name that cannot be looked up was not hidden by us
  }
}

function toRefusal(line: RefusalLine, plan: Plan): Refusal {
  return {
    op: line.op,
    path: line.path,
    rule: findBrokerRule(plan.launch.brokerRules, line.rule),
    reason: line.rule === FOREIGN_SOCKET.id ? FOREIGN_SOCKET.rule : undefined,
    isHidden: false,
  };
}

function toResult(
  request: RunRequest,
  plan: Plan,
  report: PerformedPlan,
  setAside: readonly SetAside[],
): RunResult {
  const isBroken = report.failed !== undefined || !report.end;
  const failure = isBroken ? describeFailure(report, setAside) : undefined;
  if (failure !== undefined && !report.hasRecord) throw new AssayError('E_LAUNCH_FAILED', failure);
  const end = report.end ?? BROKEN_DOWN;
  const refusals = [
    ...report.refusals.map((line) => toRefusal(line, plan)),
    ...findHidden(report.absent, request.variables, plan.launch),
  ];
  return {
    plan,
    exitCode: end.code,
    signal: end.signal,
    isTimedOut: end.timedOut,
    limit: end.limit,
    durationMs: end.ms,
    execError: report.execErrno === undefined ? undefined : describeErrno(report.execErrno),
    refusals,
    refusalCount: report.refusalCount,
    setAside,
    leftovers: [],
    damagedLines: report.damagedLines,
    isRecordWhole: report.isRecordWhole,
    failure,
    doorProblems: report.doorProblems,
  };
}

function describeFailure({ failed }: HelperReport, setAside: readonly SetAside[]): string {
  const also = setAside
    .map(({ path }) => `\nSet aside, since it may make git run a program: ${path}`)
    .join('');
  if (!failed) return `The helper ended without saying how the run went${also}`;
  const why = failed.errno ? `: ${describeErrno(failed.errno)}` : '';
  return `Cannot set up the sandbox: ${failed.step}: ${failed.what}${why}${also}`;
}

/** One run: plan, launch, and again with better facts if the host turned out to be other than guessed; then clean up. */
export async function runSandbox(request: RunRequest): Promise<RunResult> {
  const { tmpdir } = request.variables;
  makeScopedTmp(tmpdir);
  const leftovers: string[] = [];
  try {
    const { result, gone } = await tryPlans(request, leftovers);
    await request.record?.examine?.(result);
    // What is nearly empty is removed while the helper ends; until then it holds the rest locked.
    const isRemoved = removeBareTree(tmpdir);
    await gone;
    const problem = isRemoved ? undefined : removeTree(tmpdir);
    return { ...result, leftovers: problem === undefined ? leftovers : [...leftovers, problem] };
  } catch (error) {
    removeTree(tmpdir);
    throw error;
  }
}

/** Most runs make no repository, and need none of this. */
async function reviewGitDirs(
  { gitDirs, gitFileDirs }: HelperReport,
  run: Pick<GitTraces, 'cwd' | 'sinceMs' | 'rules'>,
): Promise<SetAside[]> {
  if (gitDirs.length === 0 && gitFileDirs.length === 0) return [];
  const { setAsideGitPrograms } = await import('./git-aftermath.ts');
  return setAsideGitPrograms({ gitDirs, gitFileDirs, ...run });
}

interface Tried {
  readonly result: RunResult;
  /** Resolves when nothing of the run is left. */
  readonly gone: Promise<unknown>;
}

/** Namespaces are made while the plan is, unless they are likely to be others than the plan wants. */
async function tryPlans(request: RunRequest, leftovers: string[]): Promise<Tried> {
  const early = wantsEveryNamespace(request.host, request.choice)
    ? new EarlyHelper(request.variables.tmpdir)
    : undefined;
  try {
    return await tryEachPlan(request, { leftovers, early });
  } finally {
    await early?.dismiss();
    early?.closeFile();
  }
}

async function tryEachPlan(request: RunRequest, means: Means): Promise<Tried> {
  const startedMs = Date.now();
  const planNet = await choosePlanNet(request.policy.net);
  let host = request.host;
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const plan = makePlan({
      ...request,
      host,
      planNet,
      parentPid: process.pid,
      graceMs: GRACE_MS,
      recording: request.record?.recording,
    });
    const report = await attempt(request, plan, tries > 0 ? { ...means, early: undefined } : means);
    // Whatever else went wrong, what the program left behind is looked at.
    const setAside = await reviewGitDirs(report, {
      cwd: request.variables.cwd,
      sinceMs: startedMs,
      rules: plan.launch.brokerRules,
    });
    const corrected = report.end && !report.failed ? null : await correctFacts(host, report);
    if (corrected === null || report.hasRecord)
      return { result: toResult(request, plan, report, setAside), gone: report.gone };
    host = corrected;
  }
  throw new AssayError('E_LAUNCH_FAILED', 'Cannot find a set of layers that this host accepts', {
    hint: 'Run assay doctor',
  });
}
