import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import type { LimitName } from '../../src/backends/backend.ts';
import type { ExecResult } from '../../src/backends/sandbox.ts';
import type { Kit, Seen } from './row.ts';

/** Said with every failure, since an outcome alone rarely explains itself. */
function describe({ result, out, err }: Seen): string {
  const { outcome, reached, durationMs } = result;
  return JSON.stringify({
    outcome,
    reached,
    durationMs,
    out: out.slice(-600),
    err: err.slice(-600),
  });
}

/** Every attempt was refused, and at least one was made. */
export function isHeld(seen: Seen): void {
  expect(seen.out, describe(seen)).toMatch(/^HELD /m);
  expect(seen.out, describe(seen)).not.toContain('ESCAPED');
  expect(seen.result.outcome, describe(seen)).toEqual({ kind: 'exited', exitCode: 0 });
}

/** It may have ended in any way, but nothing got out. */
export function isContained(seen: Seen): void {
  expect(seen.out, describe(seen)).not.toContain('ESCAPED');
}

export function prints(text: string): (seen: Seen) => void {
  return (seen) => {
    expect(seen.out, describe(seen)).toBe(text);
    expect(seen.result.isOk, describe(seen)).toBe(true);
  };
}

/** The limits that a result names, whether they ended the program or it went on. */
export function namedLimits({ outcome, reached }: ExecResult): LimitName[] {
  return [...new Set([...(outcome.kind === 'limit' ? [outcome.limit] : []), ...reached])];
}

/** The limit held, and is named. */
export function isBitten(limit: LimitName): (seen: Seen) => void {
  return (seen) => {
    expect(namedLimits(seen.result), describe(seen)).toContain(limit);
    isContained(seen);
  };
}

/** How long a hostile program has: enough to begin with what it is there for. */
export const hostileMs = ({ slowness }: Pick<Kit, 'slowness'>): number => 1000 + 750 * slowness;

export function timesOut(limitFor: (kit: Kit) => number): (seen: Seen) => void {
  return (seen) => {
    const limitMs = limitFor(seen.kit);
    expect(seen.result.outcome, describe(seen)).toEqual({ kind: 'timeout', limitMs });
    isContained(seen);
  };
}

export function ends(...kinds: ExecResult['outcome']['kind'][]): (seen: Seen) => void {
  return (seen) => {
    expect(kinds, describe(seen)).toContain(seen.result.outcome.kind);
    isContained(seen);
  };
}

/** Several things at once. */
export function all(...checks: ((seen: Seen) => void | Promise<void>)[]) {
  return async (seen: Seen): Promise<void> => {
    for (const check of checks) await check(seen);
  };
}

/** The number behind `name=` in what it printed. */
export function numberIn(seen: Seen, name: string): number {
  const found = new RegExp(`^${name}=([\\d.]+)$`, 'm').exec(seen.out);
  expect(found, describe(seen)).not.toBeNull();
  return Number(found?.[1]);
}

export function within(name: string, from: number, to: number): (seen: Seen) => void {
  return (seen) => {
    const value = numberIn(seen, name);
    expect(value, describe(seen)).toBeGreaterThanOrEqual(from);
    expect(value, describe(seen)).toBeLessThanOrEqual(to);
  };
}

/** How long what ends, or is made ahead, by itself has for it. An engine forgets a container when the disk lets it. */
export const SETTLING_MS = 15_000;

/** What is there when nothing of an earlier row is ending or being made ahead any more. */
async function countSettled(kit: Kit): ReturnType<Kit['countLeftovers']> {
  const deadline = Date.now() + SETTLING_MS * kit.slowness;
  let counts = await kit.countLeftovers();
  for (let text = ''; text !== JSON.stringify(counts) && Date.now() < deadline;) {
    text = JSON.stringify(counts);
    await sleep(50);
    counts = await kit.countLeftovers();
  }
  return counts;
}

/** No count after `action` is above that before it, once what ends by itself has ended. */
export async function leavesNoMore<T>(kit: Kit, action: () => Promise<T>): Promise<T> {
  const before = await countSettled(kit);
  const result = await action();
  const findMore = async (): Promise<string[]> =>
    Object.entries(await kit.countLeftovers())
      .filter(([name, count]) => count > (before[name] ?? 0))
      .map(([name, count]) => `${name}: ${count}, ${before[name] ?? 0} before`);
  const deadline = Date.now() + SETTLING_MS * kit.slowness;
  let more = await findMore();
  while (more.length > 0 && Date.now() < deadline) {
    await sleep(100);
    more = await findMore();
  }
  expect(more).toEqual([]);
  return result;
}
