import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { LEAF_NAME, listStrangers } from './delegated-cgroup.ts';
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
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trimEnd().split('\n')) {
    const [, controllers = '', path = ''] = line.split(':');
    for (const name of controllers.split(',')) paths.set(name, path);
  }
  return paths;
}

/** Controllers that limit something here, out of those that one of its files names. */
function readControllers(directory: string, file: string): string[] {
  const found = readFileSync(`${directory}/${file}`, 'utf8').trim().split(' ');
  return found.filter((name) => ['memory', 'pids', 'cpu'].includes(name));
}

function findUnified(path: string): CgroupFacts | null {
  const own = `${ROOT}${path === '/' ? '' : path}`;
  // Another run has moved this process there, and left it to the last to move it back.
  const directory = basename(own) === LEAF_NAME ? dirname(own) : own;
  if (!existsSync(`${directory}/cgroup.subtree_control`) || !canMakeIn(directory)) return null;
  const given = readControllers(directory, 'cgroup.subtree_control');
  const offered = readControllers(directory, 'cgroup.controllers');
  const isGiven = given.includes('memory') || given.includes('pids');
  // The root cgroup, which alone has no type, is the whole machine's.
  const isOurs = existsSync(`${directory}/cgroup.type`) && isWritable(directory);
  const controllers = isGiven ? given : offered;
  const has = (name: string): string | undefined =>
    controllers.includes(name) ? directory : undefined;
  if (!has('memory') && !has('pids')) return null;
  const facts = { version: 2, memory: has('memory'), pids: has('pids'), cpu: has('cpu') } as const;
  if (isGiven && directory === own) return facts;
  if (!isOurs) return null;
  return listStrangers(directory).length > 0
    ? { version: 0, reason: `others have processes in the cgroup ${path}, which is delegated` }
    : { ...facts, claimed: { directory, controllers: offered } };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(`${directory}/cgroup.subtree_control`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where this user can make cgroups. Without delegation an ordinary user cannot, and limits are then soft. */
export function findCgroups(): CgroupFacts {
  const paths = readMembership();
  const unified = findUnified(paths.get('') ?? '/');
  if (unified?.version === 2) return unified;
  const find = (name: string): string | undefined => {
    const path = paths.get(name);
    const directory = `${ROOT}/${name}${path === '/' || path === undefined ? '' : path}`;
    return path !== undefined && canMakeIn(directory) ? directory : undefined;
  };
  const memory = find('memory');
  const pids = find('pids');
  if (memory === undefined && pids === undefined)
    return unified ?? { version: 0, reason: 'no cgroup is delegated to this user' };
  return { version: 1, memory, pids, cpu: find('cpu') };
}
