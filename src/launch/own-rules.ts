import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule } from '../policy/policy.ts';
import { builtFolder, cacheFolder, distFolder, parentOf } from './helper-path.ts';

/** What assay runs, in this version or another, and what it would build its helper from again. */
export function listOwnFolders(): string[] {
  const dist = distFolder();
  const root = parentOf(dist);
  const cache = cacheFolder();
  const run = [dist, `${root}/bin`, ...(cache === undefined ? [] : [cache])];
  return builtFolder() === dist ? run : [...run, `${root}/native`, `${root}/scripts`];
}

/**
 * assay may lie in the workspace, as a clone or in node_modules. What it runs must not be changed by what runs inside,
 * and no policy lifts that: some of it is loaded only when the program has ended. Nor must `outputs`, files that are
 * written while it runs.
 */
export function findOwnRules(outputs: readonly string[]): FsRule[] {
  return [...listOwnFolders(), ...outputs].map((path) => ({
    effect: 'protect',
    rights: ['write'],
    pattern: escapeLiteral(path),
    origin: { source: 'assay itself', key: 'fs.protect', text: path, isOfHost: true },
  }));
}
