import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, '../fixtures/shift-clock.c');
const DAY_SECONDS = 86_400;

/**
 * Another day, for assay and for what runs inside. Nobody may set the clock of the machine for a test, and a time
 * namespace leaves the calendar alone, so a library moves it in each program that is linked with the C library. Runs
 * on this day preload one that moves it by nothing: the name of it, and that it is read, are part of every run.
 */
export class Clock {
  static readonly tools: readonly string[] = ['cc'];
  readonly #library: string;

  constructor(directory: string, days: number) {
    this.#library = join(directory, 'libclock.so');
    const shift = `-DSHIFT_SECONDS=${days * DAY_SECONDS}`;
    execFileSync('cc', ['-shared', '-fPIC', '-O1', shift, '-o', this.#library, SOURCE]);
    fs.chmodSync(this.#library, 0o755);
  }

  /** For the environment of assay, which takes it away from what runs inside. */
  get variables(): Record<string, string> {
    return { LD_PRELOAD: this.#library };
  }

  /** The same command on that day; the library lies in the workspace that it starts in. */
  wrap(command: readonly string[]): string[] {
    const script = 'export LD_PRELOAD="$PWD/libclock.so"; exec "$@"';
    return ['/bin/sh', '-c', script, 'sh', ...command];
  }
}
