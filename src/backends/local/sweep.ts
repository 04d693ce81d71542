import { lstatSync, readdirSync } from 'node:fs';
import { findCgroups } from '../../host/cgroups.ts';
import { isAlive, removeTree } from '../../launch/scoped-tmp.ts';
import type { SweepReport } from '../backend.ts';
import { sweepCgroups } from './sandbox-cgroups.ts';

const BASE = '/tmp';

/**
 * Processes end with whoever started them, and so do mounts and namespaces. What stays are the directory of the sockets,
 * and cgroups.
 */
export async function sweepLocal(uid: number): Promise<SweepReport> {
  const { removed, problems } = await sweepCgroups(findCgroups(), isAlive);
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
