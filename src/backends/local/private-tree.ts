import type { FileTree } from '../../plan/file-tree.ts';

const DIRECTORIES = new Set(['/', '/tmp', '/workspace', '/dev', '/dev/pts', '/proc', '/etc']);
const FILES = new Set(['/etc/resolv.conf', '/etc/hosts']);

/** What the planner asks of the tree inside, which is not that of the host: nothing in it is a link that matters. */
export const PRIVATE_TREE: FileTree = {
  realpath: (path) => (DIRECTORIES.has(path) || FILES.has(path) ? path : null),
  kind: (path) => (DIRECTORIES.has(path) ? 'directory' : FILES.has(path) ? 'file' : null),
  isDirectory: (path) => DIRECTORIES.has(path),
  topPaths: [],
};
