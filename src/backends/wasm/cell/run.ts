import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { LimitName } from '../../backend.ts';
import type { Denial, Outcome } from '../../sandbox.ts';
import type { RunEnd, RunRequest } from '../protocol.ts';
import { Descriptors } from './descriptors.ts';
import { FileError } from './errno.ts';
import type { FileTree } from './file-tree.ts';
import {
  acceptOutput,
  answerQuestion,
  CONTROL_BYTES,
  FILE_OPERATIONS,
  type ProgramEnd,
  type Question,
  readDropped,
  type Told,
} from './keeper-line.ts';
import { StdinQueue } from './stdin-queue.ts';
import type { WorkerInput } from './worker.ts';

const CPU_CHECK_MS = 20;
const STACK_MB = 4;
const HEAP_MB = 128;
const MAX_DENIALS = 100;
/** So near to the end that the next request for memory was refused. */
const FULL_BYTES = 256 * 1024;

/** What CPython looks for on its way up, in a place that is nobody's. */
const START_UP = new Set(['/pyvenv.cfg', '/pybuilddir.txt']);
const SHOWN = /^\/(?:workspace|tmp|run\/code|lib\/assay)(?:\/|$)/;

export interface RunInput extends Pick<
  WorkerInput,
  'request' | 'module' | 'guest' | 'modules' | 'canEval'
> {
  readonly program: string;
  readonly tree: FileTree;
  readonly onOutput: (stream: 'stdout' | 'stderr', data: Uint8Array, taken: () => void) => void;
}

function toOutcome(end: ProgramEnd, { limits }: RunRequest): Outcome {
  if (end.isOutOfMemory) return { kind: 'limit', limit: 'memoryBytes', value: limits.memoryBytes };
  if (end.kind === 'exited') return { kind: 'exited', exitCode: end.exitCode };
  return { kind: 'signaled', signal: end.isStackFull ? 'SIGSEGV' : 'SIGABRT' };
}

/** One program in a thread of its own, and all that it asks for. */
export class Run {
  readonly ended: Promise<RunEnd>;
  private readonly input: RunInput;
  private readonly control = new Int32Array(new SharedArrayBuffer(CONTROL_BYTES));
  private readonly stdin = new StdinQueue();
  private readonly descriptors: Descriptors;
  private readonly reached = new Set<LimitName>();
  private readonly denials: Denial[] = [];
  private readonly worker: Worker;
  private readonly startUsage = process.cpuUsage();
  private readonly timers: NodeJS.Timeout[] = [];
  private outcome: Outcome | undefined;
  private programEnd: ProgramEnd | undefined;
  private failure: Error | undefined;
  private onProgramEnd: () => void = () => undefined;

  constructor(input: RunInput) {
    this.input = input;
    const { request, module, guest, modules, canEval, tree } = input;
    const onReached = (limit: LimitName): void => void this.reached.add(limit);
    const unwatch = tree.space.watch(onReached);
    this.descriptors = new Descriptors(tree, request.limits.openFiles, onReached);
    const { port1, port2 } = new MessageChannel();
    const data: WorkerInput = {
      request,
      module,
      guest,
      modules,
      canEval,
      port: port2,
      control: this.control,
    };
    this.worker = new Worker(input.program, {
      workerData: data,
      transferList: [port2],
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      // Nothing of it may get between the frames.
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    port1.on('message', (message: Question | Told) => this.hear(port1, message));
    this.watchTime(request);
    const cleanUp = (): void => {
      for (const timer of this.timers) clearTimeout(timer);
      unwatch();
      port1.close();
      this.descriptors.closeAll();
    };
    this.ended = this.watchEnd(port1).finally(cleanUp);
  }

  /** A program has ended when it says so, or when its thread is gone: threads take their time to go. */
  private async watchEnd(port: MessagePort): Promise<RunEnd> {
    const isTold = new Promise<void>((resolve) => (this.onProgramEnd = resolve));
    this.worker.once('error', (error) => void (this.failure = error));
    // What was posted before the end may come after it: a port is closed behind its last message.
    const isGone = Promise.all([
      new Promise((resolve) => this.worker.once('exit', resolve)),
      new Promise((resolve) => port.once('close', resolve)),
    ]);
    await Promise.race([isTold, isGone]);
    return this.describeEnd();
  }

  private watchTime({ limits }: RunRequest): void {
    const { wallMs, cpuMs } = limits;
    this.timers.push(
      setTimeout(() => this.end({ kind: 'timeout', limitMs: wallMs }, 'wallMs'), wallMs),
    );
    if (cpuMs === undefined) return;
    const watch = setInterval(() => {
      if (this.usedCpuMs() > cpuMs)
        this.end({ kind: 'limit', limit: 'cpuMs', value: cpuMs }, 'cpuMs');
    }, CPU_CHECK_MS);
    this.timers.push(watch);
  }

  private usedCpuMs(): number {
    const { user, system } = process.cpuUsage(this.startUsage);
    return (user + system) / 1000;
  }

  private hear(port: MessagePort, message: Question | Told): void {
    if ('tell' in message) {
      if (message.tell === 'end') {
        this.programEnd = message.end;
        this.onProgramEnd();
      } else
        this.input.onOutput(message.stream, message.data, () =>
          acceptOutput(this.control, message.data),
        );
    } else if (message.ask === 'stdin') {
      this.stdin.read(message.maxBytes, (value) => answerQuestion(port, this.control, { value }));
    } else this.answerFile(port, message);
  }

  private answerFile(port: MessagePort, { op, args }: Question & { ask: 'file' }): void {
    if (!FILE_OPERATIONS.includes(op)) throw new Error('There is no such operation');
    try {
      const act = this.descriptors[op] as (...args: readonly unknown[]) => unknown;
      answerQuestion(port, this.control, { value: act.apply(this.descriptors, [...args]) });
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.noteDenial(op, args, error);
      answerQuestion(port, this.control, { errno: error.errno });
    }
  }

  private noteDenial(op: string, args: readonly unknown[], { errno }: FileError): void {
    const [at, path] = args;
    if (typeof at !== 'number' || typeof path !== 'string' || this.denials.length >= MAX_DENIALS)
      return;
    const target = this.descriptors.nameOf(at, path);
    const isOutside = !SHOWN.test(target) && !START_UP.has(target);
    const isMissed = op === 'openAt' && errno === 'NOENT' && isOutside;
    if (errno !== 'ROFS' && !isMissed) return;
    const action = errno === 'ROFS' ? 'fs.write' : 'fs.read';
    if (this.denials.some((denial) => denial.action === action && denial.target === target)) return;
    this.denials.push({ action, target });
  }

  addStdin(piece: Uint8Array): void {
    this.stdin.add(piece);
  }

  /** Ends it now, whatever it is doing. The first reason is the one that counts. */
  end(outcome: Outcome, limit?: LimitName): void {
    if (this.outcome) return;
    this.outcome = outcome;
    if (limit) this.reached.add(limit);
    void this.worker.terminate();
  }

  private describeEnd(): RunEnd {
    const { request } = this.input;
    const { programEnd, failure } = this;
    const isWorkerFull =
      (failure as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    let outcome = programEnd ? toOutcome(programEnd, request) : this.outcome;
    if (!outcome && isWorkerFull)
      outcome = { kind: 'limit', limit: 'memoryBytes', value: request.limits.memoryBytes };
    if (!outcome) throw failure ?? new Error('The run ended without saying how');
    const { memoryBytes } = request.limits;
    const isFull = programEnd && programEnd.maxMemoryBytes >= memoryBytes - FULL_BYTES;
    if (isFull) this.reached.add('memoryBytes');
    if (outcome.kind === 'limit') this.reached.add(outcome.limit);
    const truncated = {
      stdout: readDropped(this.control, 'stdout'),
      stderr: readDropped(this.control, 'stderr'),
    };
    if (truncated.stdout + truncated.stderr > 0) this.reached.add('outputBytes');
    return {
      outcome,
      reached: [...this.reached],
      truncated,
      cpuMs: this.usedCpuMs(),
      maxMemoryBytes: programEnd?.maxMemoryBytes,
      diskBytes: this.input.tree.space.usedBytes,
      denials: this.denials,
    };
  }
}
