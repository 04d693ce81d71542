import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CgroupFacts } from '../../host/facts.ts';
import type { CgroupPlan } from '../../plan/limits.ts';
import { SandboxError } from '../sandbox-error.ts';

const REMOVE_ATTEMPTS = 100;
const PREFIX = 'assay-local-';

/** How often a limit was reached, and the most that was used. */
export interface CgroupCounts {
  readonly killed: number;
  readonly refusedPids: number;
  readonly peakBytes?: number | undefined;
}

/** The cgroups of one sandbox. Its holder is put into them, and everything that it starts is born there. */
export class SandboxCgroups {
  readonly #directories: string[] = [];
  readonly #version: number;

  private constructor(version: number) {
    this.#version = version;
  }

  static make(
    plans: readonly CgroupPlan[],
    options: { readonly version: number; readonly name: string; readonly pid: number },
  ): SandboxCgroups {
    const made = new SandboxCgroups(options.version);
    for (const { directory, settings } of plans) {
      const path = join(directory, `${PREFIX}${process.pid}-${options.name}`);
      try {
        mkdirSync(path);
        made.#directories.push(path);
        for (const [file, value] of settings) writeFileSync(join(path, file), value);
        writeFileSync(join(path, 'cgroup.procs'), String(options.pid));
      } catch (cause) {
        const { message } = cause as Error;
        throw new SandboxError('start_failed', `Cannot set up the cgroup ${path}: ${message}`, {
          cause,
        });
      }
    }
    return made;
  }

  read(): CgroupCounts {
    const isUnified = this.#version === 2;
    const kills = isUnified ? 'memory.events' : 'memory.oom_control';
    const peak = isUnified ? 'memory.peak' : 'memory.max_usage_in_bytes';
    const peakBytes = this.#readAny(peak);
    return {
      killed: readCount(this.#readAny(kills), 'oom_kill'),
      refusedPids: readCount(this.#readAny('pids.events'), 'max'),
      peakBytes: peakBytes === undefined ? undefined : Number(peakBytes),
    };
  }

  #readAny(file: string): string | undefined {
    for (const directory of this.#directories) {
      if (!isOf(directory, file, this.#version)) continue;
      try {
        return readFileSync(join(directory, file), 'utf8');
      } catch {
        continue; // not of this kernel, or of another controller
      }
    }
    return undefined;
  }

  /** Everything in them has ended, but the kernel may take a moment to let go of the last member. */
  async close(): Promise<void> {
    for (const path of this.#directories.splice(0)) await removeDirectory(path);
  }
}

/** In the first version each controller has a tree of its own. */
function isOf(directory: string, file: string, version: number): boolean {
  const [controller = ''] = file.split('.');
  return version === 2 || dirname(directory).split('/').includes(controller);
}

function readCount(text: string | undefined, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1] ?? 0);
}

async function removeDirectory(path: string): Promise<string | undefined> {
  const { setTimeout: sleep } = process.getBuiltinModule('node:timers/promises');
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS; attempt++) {
    try {
      rmdirSync(path);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      if (code !== 'EBUSY') return `${path} cannot be removed: ${code}`;
      await sleep(5);
    }
  }
  return `${path} is still in use`;
}

/** Removes those of processes that are gone. */
export async function sweepCgroups(
  cgroup: CgroupFacts,
  isAlive: (pid: number) => boolean,
): Promise<{ readonly removed: string[]; readonly problems: string[] }> {
  const removed: string[] = [];
  const problems: string[] = [];
  const parents = [cgroup.memory, cgroup.pids, cgroup.cpu].filter((path) => path !== undefined);
  for (const path of new Set(parents).values())
    for (const name of readdirSync(path).filter((entry) => entry.startsWith(PREFIX))) {
      const pid = Number(basename(name).slice(PREFIX.length).split('-')[0]);
      if (!Number.isSafeInteger(pid) || isAlive(pid)) continue;
      const problem = await removeDirectory(join(path, name));
      if (problem === undefined) removed.push(`cgroup ${join(path, name)}`);
      else problems.push(problem);
    }
  return { removed, problems };
}
