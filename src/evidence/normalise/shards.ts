import { MASK } from './masks.ts';
import { splitPath } from './split-path.ts';

const SHARD = /^[0-9a-f]{2}$/;

/**
 * Caches spread what they name by a digest over directories that have its first two digits. Such a directory is as
 * random as the names in it: masked when all of these are. Changes `forms` in place and tells of each.
 */
export function maskShards(
  paths: readonly string[],
  forms: Map<string, string>,
  tell: (path: string) => void,
): void {
  const kept = new Set<string>();
  const filled = new Set<string>();
  // The longest first, so that what lies in a directory comes before it: there are shards of shards.
  for (const path of [...paths].sort((a, b) => b.length - a.length)) {
    const { directory, name } = splitPath(path);
    if (SHARD.test(name) && filled.has(path) && !kept.has(path) && forms.get(path) !== MASK) {
      forms.set(path, MASK);
      tell(path);
    }
    if (SHARD.test(splitPath(directory).name))
      (forms.get(path)?.includes(MASK) === true ? filled : kept).add(directory);
  }
}
