import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the processes of a delegated cgroup are while it gives its controllers on. Its own name says who made it. */
export const LEAF_NAME = 'assay-outside';
/** Processes start others meanwhile, which are then to be moved as well. */
const MOST_ROUNDS = 20;

function readWords(path: string): string[] {
  return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean);
}

function readParent(pid: string): string | undefined {
  try {
    return /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
  } catch {
    return undefined; // it has just ended
  }
}

function listLine(pid: string): string[] {
  const line = [pid];
  for (let at = readParent(pid); at !== undefined && at !== '0'; at = readParent(at)) line.push(at);
  return line;
}

/**
 * Those in the cgroup that come neither from this process nor from one there that has led to it, as the rest of a pipeline
 * does: they are not ours to move.
 */
export function listStrangers(directory: string): string[] {
  const members = readWords(join(directory, 'cgroup.procs'));
  const self = String(process.pid);
  const leaders = [self, ...listLine(self).filter((pid) => members.includes(pid))];
  return members.filter((pid) => !listLine(pid).some((above) => leaders.includes(above)));
}

function moveAll(from: string, to: string): void {
  for (const pid of readWords(join(from, 'cgroup.procs')))
    try {
      writeFileSync(join(to, 'cgroup.procs'), pid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}

function setControllers(directory: string, sign: '+' | '-', names: readonly string[]): void {
  const text = names.map((name) => `${sign}${name}`).join(' ');
  writeFileSync(join(directory, 'cgroup.subtree_control'), text);
}

/** A cgroup below, which keeps those above it from taking the controllers back as long as it is there. */
export function nestCgroup(path: string, controllers: readonly string[]): string {
  const inner = join(path, 'run');
  setControllers(path, '+', controllers);
  mkdirSync(inner);
  return inner;
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EBUSY';
}

/**
 * Lets the cgroup give its controllers on. It cannot while processes are in it (cgroup-v2.rst, "No Internal Process
 * Constraint"), so they go to one below it, which has no limits.
 */
export function claimCgroup(directory: string, controllers: readonly string[]): void {
  const leaf = join(directory, LEAF_NAME);
  for (let round = 1; ; round++)
    try {
      mkdirSync(leaf, { recursive: true });
      if (listStrangers(directory).length > 0)
        throw new Error(`processes of others have come to ${directory}`);
      moveAll(directory, leaf);
      setControllers(directory, '+', controllers);
      return;
    } catch (error) {
      if (isBusy(error) && round < MOST_ROUNDS) continue;
      releaseCgroup(directory, controllers);
      throw error;
    }
}

/** Puts everything back, unless another run has limits there: then that one does it, at its end. */
export function releaseCgroup(directory: string, controllers: readonly string[]): void {
  const leaf = join(directory, LEAF_NAME);
  try {
    // Refused while a cgroup below gives them on as well, as those of runs do.
    setControllers(directory, '-', controllers);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      moveAll(leaf, directory);
      try {
        rmdirSync(leaf);
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
  } catch {
    // Another run is at work there, or was quicker. What is left has no limits, and is of use to the next run.
  }
}
