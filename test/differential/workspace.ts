import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Runner } from './workload.ts';

const WORKLOADS = join(import.meta.dirname, 'workloads');

/** A directory that is made anew, under the same name, before each run. */
export class Workspace {
  readonly base: string;
  readonly work: string;
  readonly home: string;
  readonly tmp: string;
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'assay-differential-'));
    this.work = join(this.base, 'work');
    this.home = join(this.base, 'home');
    this.tmp = join(this.base, 'tmp');
    this.#runner = runner;
    this.#own(this.base);
  }

  /** Empties the workspace and fills it again. */
  fill(files: readonly string[]): void {
    for (const dir of [this.work, this.home, this.tmp]) {
      removeWhole(dir);
      fs.mkdirSync(dir, { mode: 0o755 });
      this.#own(dir);
    }
    for (const file of files) {
      const copy = join(this.work, file);
      fs.copyFileSync(join(WORKLOADS, file), copy);
      fs.chmodSync(copy, 0o644);
      this.#own(copy);
    }
  }

  close(): void {
    removeWhole(this.base);
  }

  #own(path: string): void {
    if (process.getuid?.() === 0) fs.chownSync(path, this.#runner.uid, this.#runner.gid);
  }
}

/** A workload may have taken away the rights to what it left; whoever is not root has to give them back first. */
function removeWhole(path: string): void {
  spawnSync('/bin/sh', ['-c', 'chmod -R u+rwx "$1" 2>/dev/null; rm -rf "$1"', 'sh', path]);
}
