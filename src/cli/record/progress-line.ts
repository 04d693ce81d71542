import { writeSync } from 'node:fs';
import { type Counters, describeCounters } from '../../observe/counters.ts';

const CLEAR = '\r\u001b[K';

/** One line on the terminal that says how far the run has come, and is gone when it is over. */
export class ProgressLine {
  #shown = '';

  update(counters: Counters): void {
    const text = describeCounters(counters);
    if (text === this.#shown) return;
    this.#shown = text;
    writeSync(2, `${CLEAR}assay: ${text}`);
  }

  clear(): void {
    if (this.#shown) writeSync(2, CLEAR);
    this.#shown = '';
  }
}

/**
 * A line that is drawn again and again would run into the output of a program that shares the terminal, so it is drawn
 * when asked for, or where only messages go to the terminal.
 */
export function isProgressShown(options: { isAsked: boolean; isQuiet: boolean }): boolean {
  if (options.isAsked) return true;
  return !options.isQuiet && process.stderr.isTTY && !process.stdout.isTTY && !process.stdin.isTTY;
}
