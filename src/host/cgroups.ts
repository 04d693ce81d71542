import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import type { CgroupFacts } from './facts.ts';

const ROOT = '/sys/fs/cgroup';

function canMakeIn(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    accessSync(`${directory}/cgroup.procs`, constants.W_OK);
    return true;
  } catch {
    return false; // not there, or not ours: the same to us
  }
}

/** The cgroup of this process in each tree, from /proc/self/cgroup. */
function readMembership(): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').split('\n')) {
    const [, controllers = '', path = ''] = line.split(':');
    for (const name of controllers.split(',')) paths.set(name, path);
  }
  return paths;
}

function findUnified(path: string): CgroupFacts | null {
  const directory = `${ROOT}${path === '/' ? '' : path}`;
  if (!existsSync(`${directory}/cgroup.subtree_control`) || !canMakeIn(directory)) return null;
  const controllers = readFileSync(`${directory}/cgroup.subtree_control`, 'utf8').trim().split(' ');
  const has = (name: string): string | undefined =>
    controllers.includes(name) ? directory : undefined;
  if (!has('memory') && !has('pids')) return null;
  return { version: 2, memory: has('memory'), pids: has('pids'), cpu: has('cpu') };
}

/** Where this user can make cgroups. Without delegation an ordinary user cannot, and limits are then soft. */
export function findCgroups(): CgroupFacts {
  const paths = readMembership();
  const unified = findUnified(paths.get('') ?? '/');
  if (unified) return unified;
  const find = (name: string): string | undefined => {
    const path = paths.get(name);
    const directory = `${ROOT}/${name}${path === '/' || path === undefined ? '' : path}`;
    return path !== undefined && canMakeIn(directory) ? directory : undefined;
  };
  const memory = find('memory');
  const pids = find('pids');
  if (memory === undefined && pids === undefined)
    return { version: 0, reason: 'no cgroup is delegated to this user' };
  return { version: 1, memory, pids, cpu: find('cpu') };
}
