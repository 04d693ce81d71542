import { AssayError } from '../../core/errors.ts';
import { toPrintable } from '../../core/printable.ts';
import type { NameTable } from '../../egress/egress.ts';
import type { Injection } from '../../egress/inject/prepare.ts';
import type { RunDoors } from '../../egress/run-doors.ts';
import { guessFacts } from '../../host/guess-facts.ts';
import type { SetAside } from '../../launch/git-aftermath.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import { findOwnRules } from '../../launch/own-rules.ts';
import { findRepositoryRules } from '../../launch/repository.ts';
import { runSandbox, type RunResult } from '../../launch/run.ts';
import { findToolchainRules } from '../../launch/toolchain.ts';
import { filterEnvironment } from '../../plan/environment.ts';
import type { FileTree } from '../../plan/file-tree.ts';
import type { LayerChoice } from '../../plan/layers.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import { describeDegradations, makeBanner } from '../banner.ts';
import { readCallerEnvironment } from '../caller-environment.ts';
import type { KeptValues } from '../kept-values.ts';
import { parseLayerChoice } from '../layer-choice.ts';
import { loadRunPolicy, readVariables } from '../load-run-policy.ts';
import type { FlagValues } from '../flag-values.ts';
import type { ParsedCommand } from '../parse.ts';
import type { BoundaryRequest } from '../record/bounded-plan.ts';
import type { JsonTarget } from '../record/json-target.ts';
import { chooseLevel, isRecordWanted } from '../record/level.ts';
import type { RecordedRun, RecordedRunInput, RunOutcome } from '../record/recorded-run.ts';
import { readEnvRules, readLimits } from '../rule-flags.ts';
import { VERSION } from '../version.ts';

const ARTIFACT_FLAGS = ['profile', 'profile-report', 'profile-format', 'bundle'];
/** To watch without a boundary. */
const WATCH_ONLY: LayerChoice = { left: new Set(['seccomp', 'broker']), landlockAbi: null };

/** What the program gets besides its filtered environment: where it is, the private tmp, and git without hook templates. */
function addRunVariables(
  env: readonly (readonly [string, string])[],
  variables: Variables,
): (readonly [string, string])[] {
  const own: [string, string][] = ['TMPDIR', 'TMP', 'TEMP'].map((name) => [name, variables.tmpdir]);
  own.push(['PWD', variables.cwd]);
  own.push(['GIT_TEMPLATE_DIR', '']);
  const names = new Set(own.map(([name]) => name));
  return env.filter(([name]) => !names.has(name)).concat(own);
}

/** Refuses a plan that enforces less than the user insists on. Nothing has run yet. */
function insist(plan: Plan, flags: ParsedCommand['flags'], isDryRun: boolean): void {
  if (isDryRun || plan.degradations.length === 0) return;
  const list = plan.degradations.map(({ rule, reason }) => `       ${rule}: ${reason}`).join('\n');
  if (flags.has('fail-closed'))
    throw new AssayError(
      'E_POLICY_CONFLICT_DENY_WINS_UNENFORCEABLE',
      `Policy cannot be fully enforced (--fail-closed active)\n${list}`,
      { hint: 'Nothing was executed. assay doctor says what this host lacks' },
    );
  const hasBoundary = plan.launch.landlock !== null || plan.launch.flags.isNotified === true;
  if (flags.has('enforce') && !hasBoundary)
    throw new AssayError(
      'E_BACKEND_UNAVAILABLE_UNENFORCEABLE',
      `Active enforcement requested (--enforce) but no containment backend is available\n${list}`,
      { hint: 'Nothing was executed. assay doctor says what this host lacks' },
    );
}

function describeSetAside({ path, movedTo, because, problem }: SetAside): string {
  const why = `it may make git run a program (${because})`;
  if (problem !== undefined) return `assay: WARNING: ${path} is dangerous, ${why}, and ${problem}`;
  return movedTo === null
    ? `assay: removed ${path}: ${why}`
    : `assay: set aside ${path} as ${movedTo}: ${why}`;
}

interface RunEnd {
  readonly result: RunResult;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly command: string;
  readonly doors: RunDoors | undefined;
}

async function tellEnd({ result, policy, variables, command, doors }: RunEnd): Promise<void> {
  const lines: string[] = [];
  if (result.isTimedOut)
    lines.push(`TIMEOUT: Process exceeded ${(policy.limits.timeoutMs ?? 0) / 1000}s limit`);
  if (result.limit) lines.push(`LIMIT: Process exceeded its ${result.limit} limit`);
  if (result.execError !== undefined)
    lines.push(`assay: cannot execute "${command}": ${result.execError}`);
  lines.push(...result.setAside.map(describeSetAside));
  if (result.damagedLines > 0)
    lines.push(
      `assay: ${result.damagedLines} lines of the report are damaged: not every refusal is known`,
    );
  lines.push(...[...result.doorProblems, ...result.leftovers].map((text) => `assay: ${text}`));
  if (result.refusals.length > 0) {
    const { makeRefusalHints } = await import('../refusal-hints.ts');
    lines.push(...makeRefusalHints(result, policy, variables));
  }
  lines.push(...(doors?.describeRefusals() ?? []));
  if (lines.length > 0) process.stderr.write(`${lines.map(toPrintable).join('\n')}\n`);
}

/** `assay sandbox`: one command inside the boundary. */
export async function run(parsed: ParsedCommand): Promise<number> {
  const { flags } = parsed;
  if (ARTIFACT_FLAGS.some((name) => flags.has(name)))
    (await import('../record/profile-files.ts')).checkArtifacts(flags);
  const target = flags.text('json');
  if (target === undefined) return await runInside(parsed, undefined);
  const { openJsonTarget } = await import('../record/json-target.ts');
  const { makeFailureSummary } = await import('../run-summary.ts');
  const json = openJsonTarget(target);
  try {
    const code = await runInside(parsed, json);
    if (json.problem !== undefined) throw new AssayError('E_RECORD_NOT_WRITTEN', json.problem);
    return code;
  } catch (error) {
    if (error instanceof AssayError) json.write(makeFailureSummary(error));
    throw error;
  }
}

interface RunInput {
  readonly command: string;
  readonly flags: FlagValues;
  readonly tree: FileTree;
  readonly variables: Variables;
  readonly callerEnv: Record<string, string>;
  readonly outputs: readonly string[];
}

/** The policy that was asked for, with what the command line and the place add to it. */
async function preparePolicy({
  command,
  flags,
  tree,
  variables,
  callerEnv,
  outputs,
}: RunInput): Promise<Policy> {
  const quick = {
    allowRead: flags.list('allow-read'),
    allowWrite: flags.list('allow-write'),
    deny: flags.list('deny'),
    allowUnix: flags.list('allow-unix'),
    allowNet: flags.list('allow-net'),
  };
  const named = { policy: flags.text('policy'), preset: flags.text('preset'), quick };
  const loaded = await loadRunPolicy(named, variables);
  const { home, cwd } = variables;
  const fs = [
    ...loaded.fs,
    ...findOwnRules(outputs),
    ...findRepositoryRules({ cwd, home }),
    ...findToolchainRules({ command, env: callerEnv, home, cwd, tree }),
  ];
  const limits = { ...loaded.limits, ...readLimits(flags) };
  return { ...loaded, fs, env: readEnvRules(flags, loaded.env), limits };
}

/** What is written beside the program, or after it: no program inside may be there first. */
async function listOutputs(flags: FlagValues, json: JsonTarget | undefined): Promise<string[]> {
  const stream = json?.path === undefined ? [] : [json.path];
  if (!ARTIFACT_FLAGS.some((name) => flags.has(name))) return stream;
  const { listArtifactPlaces } = await import('../record/profile-files.ts');
  return [...stream, ...listArtifactPlaces(flags)];
}

/** Made before the program can change what the rules are about. */
async function planBoundary(
  request: Omit<BoundaryRequest, 'choice'>,
  flags: FlagValues,
): Promise<Plan> {
  const { planBoundedRun } = await import('../record/bounded-plan.ts');
  return await planBoundedRun({ ...request, choice: parseLayerChoice(flags.text('layers')) });
}

async function openRecord(
  input: Omit<RecordedRunInput, 'hide'>,
  kept: KeptValues,
): Promise<RecordedRun> {
  const { openRecordedRun } = await import('../record/recorded-run.ts');
  const { hideKeptValues } = await import('../kept-values.ts');
  return await openRecordedRun({ ...input, hide: hideKeptValues(kept) });
}

/** Loaded for the few runs in which something was refused. */
async function redactResult(result: RunResult, kept: KeptValues): Promise<RunResult> {
  if (result.refusals.length === 0) return result;
  const { hideKeptValues, redactRefusals } = await import('../kept-values.ts');
  return redactRefusals(result, hideKeptValues(kept));
}

/** What would be refused is the point of a dry run, so it is said even quietly. */
function tellOutcome({ lines, violations, problems }: RunOutcome, isQuiet: boolean): void {
  const shown = isQuiet && violations.length === 0 ? [] : lines;
  if (shown.length > 0) process.stderr.write(`${shown.map(toPrintable).join('\n')}\n`);
  if (problems.length > 0)
    throw new AssayError('E_RECORD_NOT_WRITTEN', problems.join('\n'), {
      hint: 'The program has run to its end; what could be written is there',
    });
}

/** Headers to be added and TLS to be opened, of which most policies have neither. Fails before anything has run. */
async function readInjection(
  policy: Policy,
  env: Record<string, string>,
): Promise<Injection | undefined> {
  const isNeeded = policy.inject.length > 0 || policy.net.some((rule) => rule.isTlsOpened);
  if (!isNeeded) return undefined;
  const { prepareInjection } = await import('../../egress/inject/prepare.ts');
  return await prepareInjection({ policy, env, now: () => Date.now() });
}

async function runInside(
  { flags, rest }: ParsedCommand,
  json: JsonTarget | undefined,
): Promise<number> {
  const [command] = rest;
  if (command === undefined || command === '')
    throw new AssayError('E_USAGE', 'Cannot run nothing: no command was given', {
      hint: 'Write assay sandbox -- COMMAND',
    });
  const isDryRun = flags.has('dry-run');
  const isQuiet = flags.has('quiet');
  const isVerbose = flags.has('verbose');
  const tree = readHostTree();
  const variables = readVariables({ workdir: flags.text('workdir') }, tree);
  const callerEnv = readCallerEnvironment();
  const outputs = await listOutputs(flags, json);
  const policy = await preparePolicy({ command, flags, tree, variables, callerEnv, outputs });
  const injection = await readInjection(policy, callerEnv);
  const withheld = injection?.withheld;
  const environment = filterEnvironment({ env: callerEnv, rules: policy.env, withheld });
  const choice = isDryRun ? WATCH_ONLY : parseLayerChoice(flags.text('layers'));
  const host = guessFacts();
  const kept = { callerEnv, environment, injected: [...(injection?.values.values() ?? [])] };
  const { uid } = host;
  const env = addRunVariables(environment.env, variables);
  const trustedPem = injection?.opening?.bundlePem;
  const planned = { argv: rest, env, policy, variables, host, tree, trustedPem };
  const boundary = isDryRun ? await planBoundary(planned, flags) : undefined;
  const recorded = isRecordWanted(flags)
    ? await openRecord(
        { argv: rest, flags, policy, variables, environment, uid, json, boundary },
        kept,
      )
    : undefined;
  const announce = (plan: Plan): string => {
    insist(plan, flags, isDryRun);
    recorded?.usePlan(plan);
    if (!isQuiet)
      return makeBanner({
        version: VERSION,
        plan,
        policy,
        variables,
        environment,
        isDryRun,
        isVerbose,
      });
    const warnings = describeDegradations(plan, isDryRun);
    return warnings.length > 0 ? `${warnings.join('\n')}\n` : '';
  };
  let doors: RunDoors | undefined;
  const raw = await runSandbox({
    ...planned,
    choice,
    announce,
    isLast: true,
    loadDoors: async () => {
      const { openRunDoors } = await import('../../egress/run-doors.ts');
      const openLog = recorded && (async (names: NameTable) => recorded.openEgress(names));
      const { hideKeptValues } = await import('../kept-values.ts');
      doors = await openRunDoors({ policy, injection, openLog, hide: hideKeptValues(kept) });
      return doors.serve;
    },
    record: recorded ? recorded.request : { recording: chooseLevel(flags) },
    isObserveOnly: isDryRun,
  }).catch((error: unknown) => {
    for (const line of recorded?.abandon() ?? []) process.stderr.write(`${line}\n`);
    throw error;
  });
  const outcome = await recorded?.end(raw);
  const result = await redactResult(raw, kept);
  if (json) {
    const { makeSummary } = await import('../run-summary.ts');
    const { violations = [], runId, bundle } = outcome ?? {};
    const atDoors = doors
      ?.listRefusals()
      .map(({ place, verdict: { rule, hint } }) => ({ op: 'connect', path: place, rule, hint }));
    const places = outcome?.refusedPlaces ?? atDoors ?? [];
    const run = { result, policy, variables, environment, isDryRun, places };
    json.write(makeSummary({ ...run, violations, runId, bundle }));
  }
  const mustTell =
    result.execError !== undefined || result.setAside.length > 0 || result.damagedLines > 0;
  if (!isQuiet || mustTell) await tellEnd({ result, policy, variables, command, doors });
  if (outcome) tellOutcome(outcome, isQuiet);
  if (result.failure !== undefined) throw new AssayError('E_LAUNCH_FAILED', result.failure);
  return outcome?.exitCode ?? result.exitCode;
}
