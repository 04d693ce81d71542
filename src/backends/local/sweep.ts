import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroups } from '../../host/cgroups.ts';
import { removeCgroup } from '../../launch/remove-cgroup.ts';
import { isAlive, removeTree } from '../../launch/scoped-tmp.ts';
import type { SweepReport } from '../backend.ts';
import { CGROUP_PREFIX } from './slot.ts';

const BASE = '/tmp';

/** Those of processes that are gone. */
async function sweepCgroups(removed: string[], problems: string[]): Promise<void> {
  const { memory, pids, cpu } = findCgroups();
  for (const directory of new Set([memory, pids, cpu].filter((path) => path !== undefined)))
    for (const name of readdirSync(directory).filter((entry) => entry.startsWith(CGROUP_PREFIX))) {
      const pid = Number(name.slice(CGROUP_PREFIX.length).split('-')[0]);
      if (!Number.isSafeInteger(pid) || isAlive(pid)) continue;
      const problem = await removeCgroup(join(directory, name));
      if (problem === undefined) removed.push(`cgroup ${join(directory, name)}`);
      else problems.push(problem);
    }
}

/**
 * Processes end with whoever started them, and so do mounts and namespaces. What stays are the directory of the sockets,
 * and cgroups.
 */
export async function sweepLocal(uid: number): Promise<SweepReport> {
  const removed: string[] = [];
  const problems: string[] = [];
  await sweepCgroups(removed, problems);
  for (const name of readdirSync(BASE)) {
    const found = new RegExp(`^assay-${uid}-(\\d+)-[0-9a-f]{8}$`).exec(name);
    if (!found || isAlive(Number(found[1]))) continue;
    const path = `${BASE}/${name}`;
    if (lstatSync(path, { throwIfNoEntry: false })?.uid !== uid) continue;
    const problem = removeTree(path);
    if (problem === undefined) removed.push(path);
    else problems.push(problem);
  }
  return { removed, problems };
}
