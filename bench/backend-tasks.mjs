// Many sandboxes, eight at a time, and how much memory this process has while it makes them: node backend-tasks.mjs 1000
import { createSandbox } from '../dist/index.mjs';

const total = Number(process.argv[2]);
const AT_A_TIME = 8;
const SETTLED = Math.ceil(total / 5);
let next = 0;

const toMiB = (bytes) => Math.round((bytes / 1024 / 1024) * 10) / 10;

function measure() {
  globalThis.gc?.();
  return toMiB(process.memoryUsage().rss);
}

let settledMiB = 0;
async function work() {
  while (next < total) {
    const index = next++;
    if (index === SETTLED) settledMiB = measure();
    const sandbox = await createSandbox({ backend: 'local' });
    const { stdout } = await sandbox.exec(['/bin/echo', String(index)]);
    if (Buffer.from(stdout).toString() !== `${index}\n`) throw new Error(`task ${index} failed`);
    await sandbox[Symbol.asyncDispose]();
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: AT_A_TIME }, work));
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({ total, settledMiB, endMiB: measure(), perSecond: total / seconds }));
