import { isMainThread } from 'node:worker_threads';
import { serveCell } from './serve.ts';
import { runInWorker } from './worker.ts';

if (isMainThread) void serveCell(__filename);
else runInWorker();
