import { posix } from 'node:path';
import type { ConnectionFact } from '../../egress/egress.ts';
import type { BackendId, Coverage, LimitName, Surface } from '../backend.ts';
import { requireArguments } from '../call-input.ts';
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
import {
  type AskedCall,
  type Ending,
  makeResult,
  NOTHING_RAN,
  toConnection,
} from './call-result.ts';
import { type Baseline, findChanges } from './changes.ts';
import { toDenial } from '../network-rules.ts';
import { RunningCall } from './running-call.ts';
import type { CallEnd, MoreLimits } from './steward-call.ts';
import { StewardFiles } from './steward-files.ts';
import { makeGone, type StewardLink } from './steward-link.ts';

/** The container that a steward runs in, as its engine sees it. */
export interface Container {
  readonly link: StewardLink;
  /** Ends it and takes everything away that it has on the host. Also when it has ended already. */
  destroy(): Promise<void>;
  /** Why it ended by itself. */
  findEnd(): Promise<{ readonly isOutOfMemory: boolean; readonly reason: string }>;
  /** Gives the container less of something; returns what gives it back. */
  tighten(limits: SandboxLimits): Promise<() => Promise<void>>;
  putCode(name: string, code: Uint8Array): Promise<string>;
}

export interface StewardSandboxInput {
  readonly id: string;
  readonly backend: BackendId;
  readonly spec: SandboxSpec;
  readonly container: Container;
  readonly limits: SandboxLimits;
  readonly more: MoreLimits;
  readonly env: Readonly<Record<string, string>>;
  readonly baseline: Baseline;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  /** What programs have sent to the network is on its way. */
  readonly drain: () => Promise<void>;
  /** Tells the calls that are under way of connections through the door. */
  readonly onConnections: (listener: (fact: ConnectionFact) => void) => void;
}

/** Limits that hold for the container as a whole, and can be made less for a while. */
const OF_CONTAINER: readonly LimitName[] = ['memoryBytes', 'pids', 'cpus'];
/** Limits that are fixed when the sandbox is made. */
const FIXED: readonly LimitName[] = ['diskBytes', 'inodes'];

export class StewardSandbox implements Sandbox {
  readonly id: string;
  readonly backend: BackendId;
  readonly limits: SandboxLimits;
  readonly fs: SandboxFs;
  readonly #input: StewardSandboxInput;
  readonly #files: StewardFiles;
  readonly #calls = new Set<RunningCall>();
  #isKilled = false;
  #isGivenUp = false;
  #ending: Promise<void> | undefined;

  constructor(input: StewardSandboxInput) {
    this.id = input.id;
    this.backend = input.backend;
    this.limits = input.limits;
    this.#input = input;
    this.#files = new StewardFiles(input.container.link);
    this.fs = this.#files;
    input.onConnections((fact) => {
      for (const call of this.#calls) {
        call.addConnection(toConnection(fact));
        if (!fact.verdict.isAllowed) call.addDenial(toDenial(fact));
      }
    });
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const call = await this.#start(argv, options);
    if (!('write' in call)) return call;
    if (options.stdin !== undefined) void call.write(options.stdin);
    void call.closeStdin();
    return await call.wait();
  }

  async spawn(argv: readonly string[], options: ExecOptions = {}): Promise<SandboxProcess> {
    const call = await this.#start(argv, options);
    if (!('write' in call)) return makeEnded(call);
    if (options.stdin !== undefined) void call.write(options.stdin);
    return call;
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    this.#requireAlive();
    return await this.#input.container.putCode(name, code);
  }

  async changes(): Promise<readonly FileChange[]> {
    this.#requireAlive();
    return await findChanges(this.#input.container.link, this.#files, this.#input.baseline);
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    for (const call of this.#calls) call.stop('aborted');
    this.#ending ??= this.#input.container.destroy();
    await this.#ending;
    await Promise.allSettled([...this.#calls].map((call) => call.wait()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #requireAlive(): void {
    if (this.#isKilled) throw makeGone('it was disposed of');
    if (this.#isGivenUp) throw makeGone('a call did not end, and was ended with it');
    if (this.#input.container.link.isGone) throw makeGone('its container has ended');
  }

  async #start(argv: readonly string[], options: ExecOptions): Promise<RunningCall | ExecResult> {
    this.#requireAlive();
    requireArguments(argv, Object.entries(options.env ?? {}));
    const limits = tightenLimits(this.limits, options.limits);
    const cwd = posix.join(WORKSPACE, toWorkspacePath(options.cwd ?? ''));
    if (options.cwd !== undefined) await this.#requireDirectory(options.cwd);
    const { container, more, backend, spec, coverage } = this.#input;
    const env = { ...this.#input.env, ...options.env };
    const asked = { backend, spec, argv, options, env, limits, coverage };
    if (options.signal?.aborted)
      return await makeResult(asked, { ...NOTHING_RAN, startedMs: Date.now() }, false);
    const loosen = await this.#tighten(limits);
    const call = new RunningCall({
      link: container.link,
      argv,
      cwd,
      limits,
      more,
      options,
      env,
      drain: this.#input.drain,
      giveUp: () => {
        this.#isGivenUp = true;
        // Whoever disposes of the sandbox hears of a failure.
        void container.destroy().catch(() => undefined);
      },
      finish: async (ending) => {
        this.#calls.delete(call);
        await loosen();
        return await this.#toResult(asked, ending);
      },
    });
    this.#calls.add(call);
    return call;
  }

  async #requireDirectory(path: string): Promise<void> {
    const { kind } = await this.fs.stat(path);
    if (kind !== 'directory')
      throw new SandboxError(
        'path_invalid',
        `Cannot start in ${JSON.stringify(path)}: no directory`,
      );
  }

  async #tighten(limits: SandboxLimits): Promise<() => Promise<void>> {
    const less = LIMIT_NAMES.filter((name) => limits[name] !== this.limits[name]);
    const fixed = less.filter((name) => FIXED.includes(name));
    if (fixed.length > 0)
      throw new SandboxError(
        'policy_unenforceable',
        `Cannot give one call less of ${fixed.join(', ')}`,
        {
          unmet: fixed.map((name) => ({
            item: `options.limits.${name}`,
            reason: 'it is fixed when the sandbox is made',
          })),
          hint: 'Ask for it when the sandbox is made',
        },
      );
    const wanted = less.filter((name) => OF_CONTAINER.includes(name));
    if (wanted.length === 0) return async () => undefined;
    if (this.#calls.size > 0)
      throw new SandboxError(
        'policy_unenforceable',
        `Cannot give one call less of ${wanted.join(', ')} while another is under way`,
        { hint: 'Use a sandbox of its own for it' },
      );
    return await this.#input.container.tighten(
      Object.fromEntries(wanted.map((name) => [name, limits[name]])),
    );
  }

  async #toResult(asked: AskedCall, ending: Ending): Promise<ExecResult> {
    const cause = this.#isKilled ? 'aborted' : ending.cause;
    const end = ending.end ?? (await this.#explainEnd(cause !== undefined));
    return await makeResult(asked, { ...ending, end, cause }, ending.end !== undefined);
  }

  /** The container went away under a call. */
  async #explainEnd(isWanted: boolean): Promise<CallEnd> {
    if (isWanted) return NOTHING_RAN.end;
    const { isOutOfMemory, reason } = await this.#input.container.findEnd();
    if (!isOutOfMemory)
      throw new SandboxError('engine_failed', `The container ended under a call: ${reason}`);
    return { ...NOTHING_RAN.end, reached: ['memoryBytes'] };
  }
}

/** Of a call that was aborted before it began. */
function makeEnded(result: ExecResult): SandboxProcess {
  const nothing = async (): Promise<void> => undefined;
  return {
    write: nothing,
    closeStdin: nothing,
    signal: nothing,
    wait: async () => result,
    async *[Symbol.asyncIterator]() {
      yield { type: 'end', result } as const;
    },
    [Symbol.asyncDispose]: nothing,
  };
}
