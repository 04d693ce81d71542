import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { HostFacts } from '../../host/facts.ts';
import type { ImageDigests } from '../../launch/image-digests.ts';
import { requireArguments } from '../call-input.ts';
import { sealEvidence } from '../evidence.ts';
import { toExitCode } from '../exit-code.ts';
import { tightenLimits } from '../requirements.ts';
import { SandboxError } from '../sandbox-error.ts';
import type {
  ExecOptions,
  ExecResult,
  ExpectedCall,
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
import { type LocalFiles, toCodePath } from './files.ts';
import { type Holder, makeGone } from './holder.ts';
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
  #ahead: StartedAhead | undefined;
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
    // What it has looked at may be about to change.
    if (this.#ahead) this.#ahead.isStale = true;
    return this.#parts.files;
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const call = (await this.#beginAhead(argv, options)) ?? this.#start(argv, options);
    const { stdin } = options;
    if (stdin !== undefined) await call.write(stdin);
    await call.closeStdin();
    return await call.wait();
  }

  async spawn(argv: readonly string[], options: ExecOptions = {}): Promise<SandboxProcess> {
    await this.#giveUpAhead();
    const call = this.#start(argv, options);
    if (options.stdin !== undefined) {
      await call.write(options.stdin);
      await call.closeStdin();
    }
    return call;
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    const ahead = this.#ahead;
    if (ahead?.expected.codeName !== name) return await this.#parts.files.putCode(name, code);
    // Until it is known whether this is what was expected.
    ahead.code = code;
    return toCodePath(name);
  }

  /** Where nothing that a program looks at when it starts can change in between. */
  async expect(expected: ExpectedCall): Promise<void> {
    const { spec, doors, files } = this.#parts;
    if (spec.workspace || doors || this.#calls.size > 0 || this.#end) return;
    await files.holdCode(expected.codeName, true);
    const argv = [...expected.argv, toCodePath(expected.codeName)];
    const started = this.#plan(argv, { env: expected.env }, { isIdle: true });
    this.#ahead = { expected, argv, started, call: this.#launch(started), isStale: false };
  }

  /** The call that was expected; undefined when this is another one. */
  async #beginAhead(argv: readonly string[], options: ExecOptions): Promise<LocalCall | undefined> {
    const ahead = this.#ahead;
    if (!ahead) return undefined;
    const { limits: own, spec } = this.#parts;
    const limits = settleCallLimits(own, options.limits, spec);
    if (!isAsExpected(ahead, { argv, options, limits, own })) {
      await this.#giveUpAhead();
      return undefined;
    }
    const { started, call, expected, code } = ahead;
    this.#ahead = undefined;
    Object.assign(started, { options, limits, startedAt: performance.now() });
    started.record.begin(options.codeSha256);
    call.begin(options, limits.wallMs ?? 0);
    await this.#parts.files.putCode(expected.codeName, code ?? NOTHING).catch((error: unknown) => {
      call.abort();
      throw error;
    });
    return call;
  }

  /** Its code has come for somebody else, or not at all. */
  async #giveUpAhead(): Promise<void> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (!ahead) return;
    ahead.call.abort();
    await ahead.call.wait().catch(() => undefined);
    const { files } = this.#parts;
    const { expected, code } = ahead;
    if (code) await files.putCode(expected.codeName, code);
    else await files.holdCode(expected.codeName, false);
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
    const { holder, release } = this.#parts;
    const calls = [...this.#calls];
    for (const call of calls) call.abort();
    await Promise.all(calls.map(async (call) => await call.wait().catch(() => undefined)));
    await holder.close();
    release();
  }

  #start(argv: readonly string[], options: ExecOptions): LocalCall | UnstartedCall {
    const started = this.#plan(argv, options);
    if (options.signal?.aborted)
      return new UnstartedCall((ended) => this.#finish(ended, started, undefined));
    return this.#launch(started);
  }

  #plan(argv: readonly string[], options: ExecOptions, { isIdle = false } = {}): StartedCall {
    const { holder, boundary, limits: own, spec } = this.#parts;
    if (this.#end || holder.isGone) throw makeGone();
    const limits = settleCallLimits(own, options.limits, spec);
    const env = Object.entries({ ...ENVIRONMENT, ...spec.env, ...options.env });
    requireArguments(argv, env);
    const cwd = posix.join(WORKSPACE, toWorkspacePath(options.cwd ?? ''));
    const call = { argv, env: [...env, ['PWD', cwd] as const], cwd, limits, isIdle };
    const planned = boundary.planCall(call);
    const names = env.map(([name]) => name);
    const record = this.#openRecord(argv, options, planned, names);
    return { argv, options, limits, planned, record, isIdle, startedAt: performance.now() };
  }

  #launch(started: StartedCall): LocalCall {
    const { holder } = this.#parts;
    const { planned, record, limits, options, isIdle } = started;
    const doors = this.#parts.doors?.open(holder.nextId, planned, record);
    const call: LocalCall = new LocalCall({
      holder,
      plan: planned.bytes,
      outputBytes: limits.outputBytes ?? MAX_OUTPUT,
      options,
      isIdle,
      onRecord: (lines) => record.feed(lines),
      finish: async (ended) =>
        await this.#finish(ended, started, doors).finally(() => this.#calls.delete(call)),
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

  async #finish(
    ended: EndedCall,
    started: StartedCall,
    doors: CallDoors | undefined,
  ): Promise<ExecResult> {
    const durationMs = Math.round(performance.now() - started.startedAt);
    const { planned, record, limits, options } = started;
    const { stdout, stderr, report, done, isAborted } = ended;
    const { slot, holder, files, spec } = this.#parts;
    const doorProblems = (await doors?.close()) ?? [];
    const counts: CgroupCounts = slot?.takeCounts() ?? { killed: 0, refusedPids: 0 };
    const end: CallEnd = {
      report,
      done,
      limits,
      program: started.argv[0] ?? '',
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
      durationMs,
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

/** Of a call that was started ahead, some of it is known only when it is asked for. */
interface StartedCall {
  readonly argv: readonly string[];
  readonly planned: PlannedCall;
  readonly record: CallRecord;
  readonly isIdle: boolean;
  limits: SandboxLimits;
  options: ExecOptions;
  startedAt: number;
}

interface StartedAhead {
  readonly expected: ExpectedCall;
  readonly argv: readonly string[];
  readonly started: StartedCall;
  readonly call: LocalCall;
  code?: Uint8Array;
  isStale: boolean;
}

const NOTHING = new Uint8Array(0);

/** Everything but how long it may take was settled when it was started. */
function isAsExpected(
  { argv, expected, call, code, isStale }: StartedAhead,
  asked: {
    readonly argv: readonly string[];
    readonly options: ExecOptions;
    readonly limits: SandboxLimits;
    readonly own: SandboxLimits;
  },
): boolean {
  const { options, limits, own } = asked;
  return (
    !isStale &&
    code !== undefined &&
    !call.hasEnded &&
    options.signal?.aborted !== true &&
    options.cwd === undefined &&
    isDeepStrictEqual(argv, asked.argv) &&
    isDeepStrictEqual(expected.env, options.env ?? {}) &&
    LIMIT_NAMES.every((name) => name === 'wallMs' || limits[name] === own[name])
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
