import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { claimCgroup, releaseCgroup } from './delegated-cgroup.ts';
import type { CgroupFacts } from './facts.ts';

const FILES = { memory: ['memory.max', 'memory.limit_in_bytes'], pids: ['pids.max'] } as const;

/** Makes a cgroup and looks whether it can be limited; what access rights promise, a read-only mount may refuse. */
function tryController(directory: string, files: readonly string[]): string | null {
  const path = join(directory, `assay-probe-${process.pid}`);
  try {
    mkdirSync(path);
  } catch (error) {
    return (error as Error).message;
  }
  const hasFile = files.some((file) => existsSync(join(path, file)));
  rmdirSync(path);
  return hasFile ? null : `${directory} offers none of ${files.join(', ')}`;
}

/** The cgroups that were found, without those in which nothing can be made. */
export function tryCgroups(found: CgroupFacts): CgroupFacts {
  const { claimed } = found;
  if (!claimed) return tryEach(found);
  try {
    claimCgroup(claimed.directory, claimed.controllers);
  } catch (error) {
    return { version: 0, reason: (error as Error).message };
  }
  try {
    return tryEach(found);
  } finally {
    releaseCgroup(claimed.directory, claimed.controllers);
  }
}

function tryEach(found: CgroupFacts): CgroupFacts {
  if (found.version === 0) return found;
  const reasons: string[] = [];
  const keep = (name: keyof typeof FILES): string | undefined => {
    const directory = found[name];
    if (directory === undefined) return undefined;
    const reason = tryController(directory, FILES[name]);
    if (reason !== null) reasons.push(reason);
    return reason === null ? directory : undefined;
  };
  const memory = keep('memory');
  const pids = keep('pids');
  if (memory === undefined && pids === undefined) return { version: 0, reason: reasons.join('; ') };
  return { ...found, memory, pids };
}
