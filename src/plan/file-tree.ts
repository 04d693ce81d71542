/** What the planner needs to know of the host's files; the caller looks, so that planning stays pure. */
export interface FileTree {
  /** The path with every link resolved; null when nothing is there. */
  realpath(path: string): string | null;
  kind(path: string): 'directory' | 'file' | 'other' | null;
  /** The same question as for its kind, and quicker to answer. */
  isDirectory(path: string): boolean;
  /** What is at the top of the tree, of whatever kind. */
  readonly topPaths: readonly string[];
}

export function isAtOrBelow(path: string, dir: string): boolean {
  return dir === '/' || path === dir || path.startsWith(`${dir}/`);
}
