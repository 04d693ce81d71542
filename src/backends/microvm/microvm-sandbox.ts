import { randomBytes } from 'node:crypto';
import { tightenLimits } from '../requirements.ts';
import type { ExecOptions, ExecResult, FileChange, Sandbox, SandboxFs } from '../sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import { type SandboxLimits, type SandboxSpec, WORKSPACE } from '../spec.ts';
import { toWorkspacePath } from '../workspace-path.ts';
import { attestCall } from './attest.ts';
import { copyIn, type HostTree } from './copy-in.ts';
import type { EgressDoor } from './egress-door.ts';
import { GuestCall } from './guest-call.ts';
import { GuestFiles } from './guest-files.ts';
import { GuestRefusal } from './guest-link.ts';
import type { Machine } from './machine.ts';
import { encodeExec, encodeSetup } from './messages.ts';
import { type Baseline, findChanges, listWorkspace } from './workspace-changes.ts';

export interface SandboxRequest {
  readonly spec: SandboxSpec;
  readonly limits: SandboxLimits;
  readonly machine: Machine;
  /** What is copied into the workspace. */
  readonly tree: HostTree | undefined;
  readonly door: EgressDoor | undefined;
}

const SEED_BYTES = 64;
/** After the host's own time is up; the guest's clock starts later. */
const WALL_SLACK_MS = 2000;
const SPARE_NAMES = 64;

const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/home',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
} as const;

/** One machine, and what is done with it until it is thrown away. */
export class MicrovmSandbox implements Sandbox {
  readonly backend = 'microvm';
  readonly id = `microvm-${randomBytes(8).toString('hex')}`;
  readonly limits: SandboxLimits;
  readonly fs: SandboxFs;
  readonly #request: SandboxRequest;
  readonly #files: GuestFiles;
  readonly #calls = new Set<GuestCall>();
  #baseline: Baseline = { entries: new Map(), digests: new Map() };
  #isGone = false;

  private constructor(request: SandboxRequest) {
    this.#request = request;
    this.limits = request.limits;
    const { tree, machine } = request;
    this.#files = new GuestFiles({
      link: machine.link,
      maxBytes: (this.limits.diskBytes ?? 0) + (tree?.bytes ?? 0),
      maxEntries: this.#maxEntries,
    });
    this.fs = this.#guard(this.#files);
    request.door?.onConnection((fact) => {
      for (const call of this.#calls) call.onConnection(fact);
    });
  }

  /** Makes the machine this sandbox's own: its limits, time, chance and files. */
  static async open(request: SandboxRequest): Promise<MicrovmSandbox> {
    const sandbox = new MicrovmSandbox(request);
    try {
      await sandbox.#setUp();
    } catch (error) {
      await sandbox.kill();
      throw error;
    }
    return sandbox;
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const call = await this.#start(argv, options);
    // Not waited for: a program need not read it.
    if (options.stdin === undefined || options.stdin.length === 0) await call.closeStdin();
    else void call.write(options.stdin).then(() => call.closeStdin());
    try {
      return await call.wait();
    } finally {
      this.#calls.delete(call);
    }
  }

  async spawn(argv: readonly string[], options: ExecOptions = {}): Promise<GuestCall> {
    const call = await this.#start(argv, options);
    if (options.stdin !== undefined) void call.write(options.stdin);
    const forget = (): void => void this.#calls.delete(call);
    call.wait().then(forget, forget);
    return call;
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    this.#requireAlive();
    return await this.#files.putCode(name, code);
  }

  async changes(): Promise<readonly FileChange[]> {
    this.#requireAlive();
    const now = await listWorkspace(this.#files, this.#maxEntries);
    return await findChanges(this.#files, this.#baseline, now);
  }

  async kill(): Promise<void> {
    this.#isGone = true;
    for (const call of this.#calls) call.stop('aborted');
    await this.#request.machine.close();
    await this.#request.door?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  get #maxEntries(): number {
    return (this.limits.inodes ?? 0) + (this.#request.tree?.files.length ?? 0) + SPARE_NAMES;
  }

  get #copied(): { copiedBytes: number; copiedFiles: number } {
    const { tree } = this.#request;
    return { copiedBytes: tree?.bytes ?? 0, copiedFiles: tree?.files.length ?? 0 };
  }

  async #setUp(): Promise<void> {
    const { machine, tree, door, spec } = this.#request;
    const setup = {
      limits: this.limits,
      ...this.#copied,
      hasDoor: door !== undefined,
      timeMs: Date.now(),
      seed: randomBytes(SEED_BYTES),
    };
    if (door) door.serve(machine.link);
    try {
      await machine.link.request('setup', encodeSetup(setup));
    } catch (error) {
      if (!(error instanceof GuestRefusal)) throw error;
      throw new SandboxError('start_failed', `The guest cannot be set up: error ${error.errno}`, {
        cause: error,
      });
    }
    if (!tree) return;
    const digests = await copyIn(tree, this.#files);
    if (spec.workspace?.mode === 'ro') await this.#files.seal();
    this.#baseline = { entries: await listWorkspace(this.#files, this.#maxEntries), digests };
  }

  async #start(argv: readonly string[], options: ExecOptions): Promise<GuestCall> {
    this.#requireAlive();
    const { spec, door, machine } = this.#request;
    const limits = tightenLimits(this.limits, options.limits);
    const inside = toWorkspacePath(options.cwd ?? '');
    const env = { ...ENVIRONMENT, ...door?.environment, ...spec.env, ...options.env };
    const payload = encodeExec({
      argv,
      env,
      cwd: inside === '' ? WORKSPACE : `${WORKSPACE}/${inside}`,
      limits,
      ...this.#copied,
      wallSlackMs: WALL_SLACK_MS,
    });
    const call = new GuestCall({
      link: machine.link,
      argv,
      payload,
      limits,
      options,
      endMachine: () => void this.kill(),
      drain: async () => await door?.drain(),
      attest: async (facts) => await attestCall({ ...facts, spec, argv, options, env }),
    });
    this.#calls.add(call);
    try {
      await call.start();
    } catch (error) {
      this.#calls.delete(call);
      if (error instanceof GuestRefusal)
        throw new SandboxError(
          'engine_failed',
          `The guest refused the call: error ${error.errno}`,
          {
            cause: error,
          },
        );
      throw this.#isGone ? this.#gone() : error;
    }
    return call;
  }

  #gone(): SandboxError {
    return new SandboxError('gone', `The sandbox ${this.id} has been disposed of or killed`);
  }

  #requireAlive(): void {
    if (this.#isGone) throw this.#gone();
  }

  /** The files, as long as the sandbox is there. */
  #guard(files: SandboxFs): SandboxFs {
    const alive = async <T>(action: () => Promise<T>): Promise<T> => {
      this.#requireAlive();
      try {
        return await action();
      } catch (error) {
        throw this.#isGone ? this.#gone() : error;
      }
    };
    return {
      readFile: (path, options) => alive(() => files.readFile(path, options)),
      writeFile: (path, data) => alive(() => files.writeFile(path, data)),
      mkdir: (path) => alive(() => files.mkdir(path)),
      readdir: (path) => alive(() => files.readdir(path)),
      stat: (path) => alive(() => files.stat(path)),
      rm: (path) => alive(() => files.rm(path)),
      rename: (from, to) => alive(() => files.rename(from, to)),
    };
  }
}
