import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}

/** Processes whose arguments hold the text; not the dead ones that wait for their parent. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => readProc(name, 'cmdline').includes(text))
    .map(Number);
}

export function findChildren(pid: number): number[] {
  return readProc(String(pid), `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Waits until nothing is left, for some seconds: the kernel ends a tree after it has told its parent. */
export async function waitUntilGone(text: string): Promise<number[]> {
  for (let round = 0; round < 100; round++) {
    if (findProcesses(text).length === 0) return [];
    await sleep(80);
  }
  return findProcesses(text);
}

export async function waitUntil(test: () => boolean): Promise<boolean> {
  for (let round = 0; round < 200; round++) {
    if (test()) return true;
    await sleep(50);
  }
  return test();
}

/** A word that no other process has in its arguments. */
export function makeMark(): string {
  return `mark-${process.pid}-${Math.random().toString(36).slice(2)}`;
}
