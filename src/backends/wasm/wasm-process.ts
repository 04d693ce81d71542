import type { ExecEvent, ExecResult, SandboxProcess } from '../sandbox.ts';
import type { EventQueue } from '../event-queue.ts';
import type { StartedRun } from './started-run.ts';

/** Signals that do nothing to a program that does not ask for them. */
const HARMLESS: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGCHLD',
  'SIGCONT',
  'SIGURG',
  'SIGWINCH',
] as const);

export class WasmProcess implements SandboxProcess {
  private readonly started: StartedRun;
  private readonly events: EventQueue<ExecEvent>;

  constructor(started: StartedRun, events: EventQueue<ExecEvent>) {
    this.started = started;
    this.events = events;
  }

  write(data: string | Uint8Array): Promise<void> {
    this.started.addStdin(data);
    return Promise.resolve();
  }

  closeStdin(): Promise<void> {
    this.started.closeStdin();
    return Promise.resolve();
  }

  /** There is nobody inside who could catch one: those that end a program by default end it. */
  signal(name: NodeJS.Signals): Promise<void> {
    if (!HARMLESS.has(name)) this.started.stop({ kind: 'signaled', signal: name });
    return Promise.resolve();
  }

  async wait(): Promise<ExecResult> {
    return await this.started.result;
  }

  [Symbol.asyncIterator](): AsyncIterator<ExecEvent> {
    return this.events[Symbol.asyncIterator]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.started.stop({ kind: 'aborted' });
    await Promise.allSettled([this.started.result]);
  }
}
