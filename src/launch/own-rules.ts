import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule } from '../policy/policy.ts';
import { distFolder, parentOf } from './helper-path.ts';

/**
 * assay may lie in the workspace, as a clone or in node_modules. What it runs must not be changed by what runs inside,
 * and no policy lifts that: some of it is loaded only when the program has ended. Nor must `outputs`, files that are
 * written while it runs.
 */
export function findOwnRules(outputs: readonly string[]): FsRule[] {
  const dist = distFolder();
  return [dist, `${parentOf(dist)}/bin`, ...outputs].map((path) => ({
    effect: 'protect',
    rights: ['write'],
    pattern: escapeLiteral(path),
    origin: { source: 'assay itself', key: 'fs.protect', text: path, isOfHost: true },
  }));
}
