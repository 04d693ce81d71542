import { rmdirSync } from 'node:fs';

/** Everything in it has ended, but the kernel may take a moment to let go of the last member. */
const PAUSE_MS = 5;
const ATTEMPTS = 200;
const LAST_ATTEMPTS = 60;
const BUSY = 'busy';

/** Why it is still there, if so. */
export async function removeCgroup(path: string): Promise<string | undefined> {
  const { setTimeout: sleep } = process.getBuiltinModule('node:timers/promises');
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const problem = tryToRemove(path);
    if (problem !== BUSY) return problem;
    await sleep(PAUSE_MS);
  }
  return `${path} is still in use`;
}

/** For when there is no later. What is left is swept by the next run. */
export function removeCgroupNow(path: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < LAST_ATTEMPTS && tryToRemove(path) === BUSY; attempt++)
    Atomics.wait(clock, 0, 0, PAUSE_MS);
}

function tryToRemove(path: string): string | undefined {
  try {
    rmdirSync(path);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    return code === 'EBUSY' ? BUSY : `${path} cannot be removed: ${code}`;
  }
}
