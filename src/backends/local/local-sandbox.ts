import { posix } from 'node:path';
import type { HostFacts } from '../../host/facts.ts';
import { sealEvidence } from '../evidence.ts';
import { toExitCode } from '../exit-code.ts';
import { tightenLimits } from '../requirements.ts';
import { SandboxError } from '../sandbox-error.ts';
import type {
  ExecOptions,
  ExecResult,
  FileChange,
  Sandbox,
  SandboxFs,
  SandboxProcess,
} from '../sandbox.ts';
import { LIMIT_NAMES, type SandboxLimits, type SandboxSpec, WORKSPACE } from '../spec.ts';
import { toWorkspacePath } from '../workspace-path.ts';
import type { Boundary, PlannedCall } from './boundary.ts';
import { CallRecord, toCoverage } from './call-record.ts';
import { type EndedCall, LocalCall, UnstartedCall } from './call.ts';
import { type Baseline, findChanges } from './changes.ts';
import type { CallDoors, SandboxDoors } from './doors.ts';
import type { LocalFiles } from './files.ts';
import { type Holder, makeGone } from './holder.ts';
import type { ImageDigests } from './image-digests.ts';
import { findUnmetOfCall } from './limits.ts';
import { type CallEnd, findReached, settleOutcome, toDenials } from './outcome.ts';
import type { CgroupCounts, Slot } from './slot.ts';

const MAX_OUTPUT = 1024 * 1024;

/** What is the same in every sandbox; nothing of the host's environment is in it. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/node/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
};

export interface LocalParts {
  readonly id: string;
  readonly spec: SandboxSpec;
  readonly limits: SandboxLimits;
  readonly host: HostFacts;
  readonly holder: Holder;
  readonly files: LocalFiles;
  readonly boundary: Boundary;
  /** Undefined on a host without cgroups. */
  readonly slot: Slot | undefined;
  readonly release: () => void;
  readonly baseline: Baseline;
  readonly doors: SandboxDoors | undefined;
  readonly digests: ImageDigests;
}

export class LocalSandbox implements Sandbox {
  readonly backend = 'local';
  readonly #parts: LocalParts;
  readonly #calls = new Set<LocalCall>();
  #end: Promise<void> | undefined;

  constructor(parts: LocalParts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  get limits(): SandboxLimits {
    return this.#parts.limits;
  }

  get fs(): SandboxFs {
    return this.#parts.files;
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const call = this.#start(argv, options);
    const { stdin } = options;
    if (stdin !== undefined) await call.write(stdin);
    await call.closeStdin();
    return await call.wait();
  }

  async spawn(argv: readonly string[], options: ExecOptions = {}): Promise<SandboxProcess> {
    const call = this.#start(argv, options);
    if (options.stdin !== undefined) {
      await call.write(options.stdin);
      await call.closeStdin();
    }
    return call;
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    return await this.#parts.files.putCode(name, code);
  }

  async changes(): Promise<readonly FileChange[]> {
    return await findChanges(this.#parts.files, this.#parts.baseline);
  }

  async kill(): Promise<void> {
    this.#end ??= this.#close();
    await this.#end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #close(): Promise<void> {
    const { holder, doors, release } = this.#parts;
    const calls = [...this.#calls];
    for (const call of calls) call.abort();
    await Promise.all(calls.map(async (call) => await call.wait().catch(() => undefined)));
    await holder.close();
    doors?.close();
    release();
  }

  #start(argv: readonly string[], options: ExecOptions): LocalCall | UnstartedCall {
    const { holder, boundary, limits: own, spec } = this.#parts;
    if (this.#end || holder.isGone) throw makeGone();
    checkArgv(argv);
    const limits = settleCallLimits(own, options.limits, spec);
    const env = Object.entries({ ...ENVIRONMENT, ...spec.env, ...options.env });
    checkEnv(env);
    const cwd = posix.join(WORKSPACE, toWorkspacePath(options.cwd ?? ''));
    const planned = boundary.planCall({ argv, env: [...env, ['PWD', cwd]], cwd, limits });
    const record = this.#openRecord(
      argv,
      options,
      planned,
      env.map(([name]) => name),
    );
    const startedAt = performance.now();
    const isGivenUp = options.signal?.aborted === true;
    const doors = isGivenUp ? undefined : this.#parts.doors?.open(holder.nextId, planned, record);
    const finish = async (ended: EndedCall): Promise<ExecResult> => {
      const durationMs = Math.round(performance.now() - startedAt);
      const known = { argv, limits, planned, record, options, doors, durationMs };
      return await this.#finish({ ended, ...known });
    };
    if (isGivenUp) return new UnstartedCall(finish);
    const call: LocalCall = new LocalCall({
      holder,
      plan: planned.bytes,
      outputBytes: limits.outputBytes ?? MAX_OUTPUT,
      options,
      onRecord: (lines) => record.feed(lines),
      finish: async (ended) => await finish(ended).finally(() => this.#calls.delete(call)),
    });
    this.#calls.add(call);
    return call;
  }

  #openRecord(
    argv: readonly string[],
    { codeSha256 }: ExecOptions,
    { plan, policy }: PlannedCall,
    environment: readonly string[],
  ): CallRecord {
    const { host, digests } = this.#parts;
    return new CallRecord({ argv, codeSha256, environment, plan, policy, uid: host.uid, digests });
  }

  async #finish(input: FinishInput): Promise<ExecResult> {
    const { ended, planned, record, limits, doors, options } = input;
    const { stdout, stderr, report, done, isAborted } = ended;
    const { slot, holder, files, spec } = this.#parts;
    const doorProblems = (await doors?.close()) ?? [];
    const counts: CgroupCounts = slot?.takeCounts() ?? { killed: 0, refusedPids: 0 };
    const end: CallEnd = {
      report,
      done,
      limits,
      program: input.argv[0] ?? '',
      isAborted,
      ...counts,
      hasDropped: stdout.hasDropped || stderr.hasDropped,
      isWorkspaceOwn: spec.workspace === undefined || spec.workspace.mode === 'copy',
    };
    const outcome = settleOutcome(end);
    const exitCode = toExitCode(outcome);
    const made = await record.finish({
      report,
      exitCode,
      files: holder.isGone || isAborted ? undefined : files,
      doorProblems,
    });
    const coverage = toCoverage(made.coverage);
    return {
      outcome,
      isOk: outcome.kind === 'exited' && outcome.exitCode === 0,
      exitCode,
      stdout: stdout.take(),
      stderr: stderr.take(),
      truncated: { stdout: stdout.droppedBytes, stderr: stderr.droppedBytes },
      durationMs: input.durationMs,
      usage: {
        cpuMs: report.usage?.cpuMs,
        maxMemoryBytes: report.usage && report.usage.maxRssKb * 1024,
      },
      denials: [...toDenials(report, planned.plan), ...(doors?.denials() ?? [])],
      reached: findReached(end, outcome),
      evidence: await sealEvidence({ record: made, policy: planned.policy, coverage, options }),
    };
  }
}

interface FinishInput {
  readonly ended: EndedCall;
  readonly argv: readonly string[];
  readonly limits: SandboxLimits;
  readonly planned: PlannedCall;
  readonly record: CallRecord;
  readonly options: ExecOptions;
  readonly doors: CallDoors | undefined;
  readonly durationMs: number;
}

function checkArgv(argv: readonly string[]): void {
  if (argv.length === 0 || argv[0] === '' || argv.some((part) => part.includes('\0')))
    throw new SandboxError('input_invalid', 'Cannot run nothing: no program was named');
}

function checkEnv(env: readonly (readonly [string, string])[]): void {
  const wrong = env.find(([name, value]) => !/^[^=\0]+$/.test(name) || value.includes('\0'));
  if (wrong)
    throw new SandboxError(
      'input_invalid',
      `Cannot use "${wrong[0]}" as a variable of the environment`,
    );
}

/** The same object when nothing differs, so that what was planned for the sandbox serves again. */
function settleCallLimits(
  own: SandboxLimits,
  asked: SandboxLimits | undefined,
  spec: SandboxSpec,
): SandboxLimits {
  if (asked === undefined) return own;
  const limits = tightenLimits(own, asked);
  const unmet = findUnmetOfCall(limits, own, spec);
  if (unmet.length > 0)
    throw new SandboxError(
      'policy_unenforceable',
      unmet.map(({ item, reason }) => `${item}: ${reason}`).join('; '),
      { unmet },
    );
  return LIMIT_NAMES.every((name) => limits[name] === own[name]) ? own : limits;
}
