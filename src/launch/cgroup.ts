import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { claimCgroup, nestCgroup, releaseCgroup } from '../host/delegated-cgroup.ts';
import type { CgroupPlan } from '../plan/limits.ts';
import { removeCgroupNow } from './remove-cgroup.ts';

const MAX_NAMES = 1000;
/** The number is that of the assay that made it. */
const OWN_NAME = /^assay-(\d+)(?:-\d+)?$/;

/** The cgroups of one run. */
export class CgroupSet {
  private readonly directories: string[] = [];
  private readonly claims: (() => void)[] = [];

  /** Makes them, sets their limits, and returns the files by which the helper joins. */
  make(plans: readonly CgroupPlan[], name: string): string[] {
    return plans.map(({ directory, settings, claimed }) => {
      let path = join(directory, name);
      try {
        if (claimed) {
          claimCgroup(directory, claimed);
          this.claims.push(() => releaseCgroup(directory, claimed));
        }
        sweep(directory);
        path = makeNew(path);
        this.directories.push(path);
        for (const [file, value] of settings) writeFileSync(join(path, file), value);
        if (claimed) {
          path = nestCgroup(path, claimed);
          this.directories.unshift(path);
        }
      } catch (cause) {
        this.close();
        throw new AssayError(
          'E_LAUNCH_FAILED',
          `Cannot set up the cgroup ${path}: ${(cause as Error).message}`,
          {
            hint: 'Run with --layers -cgroup to keep this limit softly instead',
            cause,
          },
        );
      }
      return join(path, 'cgroup.procs');
    });
  }

  close(): void {
    for (const path of this.directories.splice(0)) removeCgroupNow(path);
    for (const release of this.claims.splice(0)) release();
  }
}

/** Removes what runs have left whose assay was killed. */
function sweep(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = OWN_NAME.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      const inner = join(directory, name, 'run');
      if (existsSync(inner)) rmdirSync(inner);
      rmdirSync(join(directory, name));
    } catch {
      // Its last process is ending, or another run was quicker: the next one looks again.
    }
  }
}

/** Process numbers are used again, so the name may be taken. */
function makeNew(path: string): string {
  for (let number = 0; ; number++) {
    const name = number === 0 ? path : `${path}-${number}`;
    try {
      mkdirSync(name);
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number === MAX_NAMES) throw error;
    }
  }
}
