import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { serveCell } from './serve.ts';
import { runInWorker } from './worker.ts';

if (isMainThread) {
  // Without the optimising compiler: it takes longer than most programs run, and most faults of engines are in it.
  setFlagsFromString('--liftoff-only');
  void serveCell(__filename);
} else runInWorker();
