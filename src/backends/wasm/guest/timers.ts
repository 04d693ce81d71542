interface Timer {
  readonly id: number;
  readonly act: (...args: unknown[]) => void;
  readonly args: readonly unknown[];
  readonly everyMs: number | undefined;
  dueMs: number;
}

const MAX_DELAY_MS = 2 ** 31 - 1;
const timers = new Map<number, Timer>();
const clock = { lastId: 0 };

function toDelay(value: unknown): number {
  const delay = Number(value);
  return delay >= 1 && delay <= MAX_DELAY_MS ? delay : 1;
}

function add(act: unknown, delay: unknown, args: readonly unknown[], isRepeated: boolean): number {
  if (typeof act !== 'function') throw new TypeError('The callback must be a function');
  clock.lastId += 1;
  const delayMs = toDelay(delay);
  timers.set(clock.lastId, {
    id: clock.lastId,
    act: act as Timer['act'],
    args,
    everyMs: isRepeated ? delayMs : undefined,
    dueMs: Date.now() + delayMs,
  });
  return clock.lastId;
}

export const timerFunctions = {
  setTimeout: (act: unknown, delay?: unknown, ...args: unknown[]): number =>
    add(act, delay, args, false),
  setInterval: (act: unknown, delay?: unknown, ...args: unknown[]): number =>
    add(act, delay, args, true),
  setImmediate: (act: unknown, ...args: unknown[]): number => add(act, 0, args, false),
  clearTimeout: (id: unknown): void => void timers.delete(Number(id)),
  clearInterval: (id: unknown): void => void timers.delete(Number(id)),
  clearImmediate: (id: unknown): void => void timers.delete(Number(id)),
};

/** Runs one timer that is due. Returns how long there is nothing to do, or -1 when there is nothing left. */
export function tick(): number {
  const [next] = [...timers.values()].sort(
    (one, other) => one.dueMs - other.dueMs || one.id - other.id,
  );
  if (!next) return -1;
  const waitMs = next.dueMs - Date.now();
  if (waitMs > 0) return waitMs;
  if (next.everyMs === undefined) timers.delete(next.id);
  else next.dueMs = Date.now() + next.everyMs;
  next.act(...next.args);
  return 0;
}
