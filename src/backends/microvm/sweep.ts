import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SweepReport } from '../backend.ts';
import { listEnginesDirs } from '../engines-dir.ts';
import { isOwnerGone } from '../owner.ts';
import { MACHINE_NAME } from './machine.ts';
import { START_PATIENCE_MS } from './snapshot.ts';

async function readArguments(pid: string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''); // it has ended meanwhile
  return text.split('\0');
}

/** A machine whose owner is gone. The kernel ends it with its owner; this is for where it could not. */
async function isOrphan(pid: string): Promise<boolean> {
  const args = await readArguments(pid);
  const name = args[args.indexOf('-name') + 1] ?? '';
  if (!args[0]?.endsWith('qemu-system-x86_64') || !name.startsWith(MACHINE_NAME)) return false;
  return isOwnerGone(name.slice(MACHINE_NAME.length));
}

async function sweepProcesses(removed: string[], problems: string[]): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await isOrphan(pid))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
      removed.push(`machine ${pid}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH')
        problems.push(`machine ${pid}: ${(error as Error).message}`);
    }
  }
}

/** Snapshots that were never finished, by whoever was killed while making one. */
async function sweepSnapshots(
  env: NodeJS.ProcessEnv,
  removed: string[],
  problems: string[],
): Promise<void> {
  for (const store of listEnginesDirs(env)) {
    const directory = join(store, 'microvm', 'snapshots');
    const names = await readdir(directory).catch(() => []); // none was ever made
    for (const name of names.filter(
      (each) => !/\.(?:snapshot|json)$/.test(each) || each.split('.').length > 2,
    )) {
      const path = join(directory, name);
      try {
        const { mtimeMs, uid } = await stat(path);
        if (uid !== process.getuid?.() || Date.now() - mtimeMs < 2 * START_PATIENCE_MS) continue;
        await rm(path);
        removed.push(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          problems.push(`${path}: ${(error as Error).message}`);
      }
    }
  }
}

export async function sweepMachines(env: NodeJS.ProcessEnv): Promise<SweepReport> {
  const removed: string[] = [];
  const problems: string[] = [];
  await sweepProcesses(removed, problems);
  await sweepSnapshots(env, removed, problems);
  return { removed, problems };
}
