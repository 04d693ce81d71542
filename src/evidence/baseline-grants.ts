import { SYSTEM_BASELINE } from '../policy/system-baseline.ts';
import type { NeededRight } from './needs.ts';

/** Whether the system baseline grants a right on a path. */
export function makeBaselineTest(): (right: NeededRight, path: string) => boolean {
  const { allow = [], read = [], write = [], exec = [] } = SYSTEM_BASELINE.fs ?? {};
  const granted: Record<NeededRight, ReadonlySet<string>> = {
    read: new Set([...allow, ...read, ...write, ...exec]),
    write: new Set([...allow, ...write]),
    exec: new Set([...allow, ...exec]),
  };
  return (right, path) => {
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      if (granted[right].has(at)) return true;
    return false;
  };
}
