import { type MessagePort, workerData } from 'node:worker_threads';
import type { RunRequest } from '../protocol.ts';
import { runJavaScript } from './javascript.ts';
import { KeeperLine } from './keeper-line.ts';
import { runPython } from './python.ts';

export interface WorkerInput {
  readonly request: RunRequest;
  readonly module: WebAssembly.Module;
  readonly modules: readonly string[] | undefined;
  readonly canEval: boolean;
  readonly guest: string;
  readonly port: MessagePort;
  readonly control: Int32Array;
}

/** A thread that runs one program and is gone. */
export function runInWorker(): void {
  const { port, control, ...input } = workerData as WorkerInput;
  const line = new KeeperLine(port, control, input.request.limits.outputBytes);
  const run = input.request.program === 'python' ? runPython : runJavaScript;
  line.end(run({ ...input, line }));
}
