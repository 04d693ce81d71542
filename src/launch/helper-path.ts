import { basename, join } from 'node:path';

/**
 * Something that the build made, beside the bundle; a path relative to anything else could be planted. The parts of a
 * bundle lie in folders of their own; the sources, as the tests load them, lie beside what was built.
 */
export function distPath(name: string): string {
  return join(findDist(__dirname), name);
}

function findDist(folder: string): string {
  switch (basename(folder)) {
    case 'chunks':
    case 'library':
      return findDist(join(folder, '..'));
    case 'launch':
      return join(folder, '../../dist');
    default:
      return folder;
  }
}

export function helperPath(): string {
  return distPath('assay-helper');
}
