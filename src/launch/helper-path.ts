/**
 * Something that the build made, beside the bundle; a path relative to anything else could be planted. The parts of a
 * bundle lie in folders of their own; the sources, as the tests load them, lie beside what was built.
 */
export function distPath(name: string): string {
  return `${distFolder()}/${name}`;
}

export function distFolder(): string {
  return findDist(__dirname);
}

function findDist(folder: string): string {
  switch (folder.slice(folder.lastIndexOf('/') + 1)) {
    case 'chunks':
    case 'library':
      return findDist(parentOf(folder));
    case 'launch':
      return `${parentOf(parentOf(folder))}/dist`;
    default:
      return folder;
  }
}

/** What is new to node takes long the first time, so every start does without `node:path` here. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function helperPath(): string {
  return distPath('assay-helper');
}
