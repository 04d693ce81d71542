import { setTimeout as pause } from 'node:timers/promises';

const STEP_MS = 2;
/** A server that the program was still waiting for when it ended need not be waited for. */
const QUIET_STEPS = 10;

export interface Draining {
  isIdle(): boolean;
  /** Bytes handed on so far; undefined while it is certain that there is more. */
  countSent(): number | undefined;
}

/** Resolves when nothing is on its way any more, or nothing moves. */
export async function waitUntilSent(work: Draining, isOver: () => boolean): Promise<void> {
  let last: number | undefined;
  for (let quiet = 0; quiet < QUIET_STEPS && !isOver();) {
    if (work.isIdle()) return;
    const sent = work.countSent();
    quiet = sent !== undefined && sent === last ? quiet + 1 : 0;
    last = sent;
    await pause(STEP_MS);
  }
}
