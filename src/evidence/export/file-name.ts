/** What stands behind the last slash; of a directory, which ends in one, its name. */
export function fileNameOf(path: string): string {
  const bare = path.replace(/\/+$/, '');
  return bare.slice(bare.lastIndexOf('/') + 1) || path;
}
