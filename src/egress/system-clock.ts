import type { RuleClock } from './rules.ts';

/** The time of the wall, since rules expire at a date. Its timers keep nothing alive. */
export const SYSTEM_CLOCK: RuleClock = {
  now: () => Date.now(),
  after: (delayMs, call) => {
    const timer = setTimeout(call, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
