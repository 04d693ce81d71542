import { spellName } from '../../core/name-bytes.ts';
import { randomUUID } from 'node:crypto';
import { requireArguments } from '../call-input.ts';
import { tightenLimits } from '../requirements.ts';
import type {
  Denial,
  ExecEvent,
  ExecOptions,
  ExecResult,
  FileChange,
  Sandbox,
  SandboxFs,
  SandboxProcess,
} from '../sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import { DEFAULT_LIMITS, type SandboxLimits, type SandboxSpec, WORKSPACE } from '../spec.ts';
import type { CellProcess } from './cell-process.ts';
import { findProgram, toRunLimits } from './command.ts';
import { EventQueue } from '../event-queue.ts';
import { PIECE_BYTES } from './frames.ts';
import type { Program } from './protocol.ts';
import { CellFiles, toInside, toSandboxError } from './sandbox-files.ts';
import { type StartedRun, startNothing, startRun } from './started-run.ts';
import { WasmProcess } from './wasm-process.ts';
import { type Baseline, copyWorkspace, findChanges } from './workspace-copy.ts';

const CODE_PLACE = '/run/code';
const CODE_NAME = /^[\w.-]+$/;

export interface WasmSandboxInput {
  readonly cell: CellProcess;
  readonly spec: SandboxSpec;
  readonly limits: SandboxLimits;
  readonly programs: ReadonlySet<Program>;
}

/** Programs of two languages and the files that they are given, in a process that holds nothing else. */
export class WasmSandbox implements Sandbox {
  readonly id = `wasm-${randomUUID()}`;
  readonly backend = 'wasm';
  readonly limits: SandboxLimits;
  readonly fs: SandboxFs;
  private readonly cell: CellProcess;
  private readonly files: CellFiles;
  private readonly spec: SandboxSpec;
  private readonly programs: ReadonlySet<Program>;
  private readonly running = new Set<StartedRun>();
  private baseline: Baseline = new Map();
  private isGone = false;

  private constructor({ cell, spec, limits, programs }: WasmSandboxInput) {
    this.cell = cell;
    this.spec = spec;
    this.limits = limits;
    this.programs = programs;
    this.files = new CellFiles(cell, limits.inodes ?? DEFAULT_LIMITS.inodes, () =>
      this.requireAlive(),
    );
    this.fs = this.files;
  }

  static async open(input: WasmSandboxInput): Promise<WasmSandbox> {
    const sandbox = new WasmSandbox(input);
    const host = input.spec.workspace?.host;
    try {
      if (host !== undefined) sandbox.baseline = await copyWorkspace(host, input.cell);
      return sandbox;
    } catch (error) {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    }
  }

  private requireAlive(): void {
    if (this.isGone) throw new SandboxError('gone', 'The sandbox is gone');
  }

  /** Why a program is not started, if so. */
  private refuse(name: string, program: Program | undefined): Denial | undefined {
    if (!program || !this.programs.has(program)) {
      const known = [...this.programs].map((each) => (each === 'python' ? 'python3' : 'node'));
      const hint = `There is ${known.join(' and ')} inside`;
      return { action: 'exec', target: spellName(name), hint };
    }
    if (program === 'javascript' || this.spec.canEval !== false) return undefined;
    return {
      action: 'exec',
      target: spellName(name),
      rule: 'canEval: false',
      hint: 'Python cannot be kept from making code out of text; JavaScript can',
    };
  }

  private environment(options: ExecOptions): [string, string][] {
    const own = { PATH: '/usr/bin', HOME: WORKSPACE, TMPDIR: '/tmp', LANG: 'C.UTF-8' };
    return Object.entries({ ...own, ...this.spec.env, ...options.env });
  }

  private async findDirectory(cwd: string): Promise<string> {
    const inside = toInside(cwd);
    const { kind } = await this.fs.stat(inside);
    if (kind !== 'directory')
      throw new SandboxError('path_invalid', `Cannot start in "${cwd}": it is no directory`);
    return inside === '.' ? WORKSPACE : `${WORKSPACE}/${inside}`;
  }

  private async start(
    argv: readonly string[],
    options: ExecOptions,
    onEvent: (event: ExecEvent) => void,
  ): Promise<StartedRun> {
    this.requireAlive();
    const limits = tightenLimits(this.limits, options.limits);
    const env = this.environment(options);
    requireArguments(argv, env);
    const input = { argv, options, onEvent, env, spec: this.spec };
    const [name = ''] = argv;
    const program = findProgram(name);
    const denial = this.refuse(name, program);
    if (denial || !program)
      return startNothing(input, {
        kind: 'refused',
        denial: denial ?? { action: 'exec', target: name },
      });
    const runLimits = toRunLimits(limits, program);
    const cwd = await this.findDirectory(options.cwd ?? '');
    if (options.signal?.aborted) return startNothing(input, { kind: 'aborted' });
    const request = { program, argv, env, cwd, limits: runLimits };
    const started = startRun(this.cell, request, input);
    this.running.add(started);
    const forget = (): void => void this.running.delete(started);
    started.result.then(forget, forget);
    return started;
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const started = await this.start(argv, options, (event) => options.onEvent?.(event));
    started.addStdin(options.stdin ?? '');
    started.closeStdin();
    return await started.result;
  }

  async spawn(argv: readonly string[], options: ExecOptions = {}): Promise<SandboxProcess> {
    const events = new EventQueue<ExecEvent>();
    const started = await this.start(argv, options, (event) => {
      options.onEvent?.(event);
      events.add(event);
    });
    started.result.then(
      () => events.close(),
      () => events.close(),
    );
    if (options.stdin !== undefined) started.addStdin(options.stdin);
    return new WasmProcess(started, events);
  }

  async changes(): Promise<readonly FileChange[]> {
    this.requireAlive();
    return await findChanges(this.baseline, this.files);
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    this.requireAlive();
    if (!CODE_NAME.test(name) || /^\.+$/.test(name))
      throw new SandboxError('path_invalid', `Cannot use "${name}" as the name of code`);
    try {
      for (let at = 0; at === 0 || at < code.length; at += PIECE_BYTES)
        await this.cell.file(
          { op: 'code', path: name, isFirst: at === 0 },
          code.subarray(at, at + PIECE_BYTES),
        );
    } catch (error) {
      throw toSandboxError(error, name);
    }
    return `${CODE_PLACE}/${name}`;
  }

  async kill(): Promise<void> {
    this.isGone = true;
    const ended = [...this.running].map(async (started) => {
      started.stop({ kind: 'aborted' });
      return await started.result;
    });
    await this.cell.close();
    await Promise.allSettled(ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
