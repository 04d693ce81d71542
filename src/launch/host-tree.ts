import { existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import type { FileTree } from '../plan/file-tree.ts';

function resolve(path: string): string | null {
  try {
    // Asking first is cheaper than an exception for a path that is not there.
    return existsSync(path) ? realpathSync.native(path) : null;
  } catch {
    return null; // gone in between
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // below a file, or in a directory that may not be searched
  }
}

/** Only a directory has a name with a slash behind it. Asking for more than that takes ten times as long. */
function isDirectory(path: string): boolean {
  return existsSync(`${path}/`);
}

function kindOf(path: string): ReturnType<FileTree['kind']> {
  if (isDirectory(path)) return 'directory';
  const found = look(path);
  if (!found) return null;
  return found.isFile() ? 'file' : 'other';
}

/** Inside another sandbox the top of the tree may not be listed; then these are hidden, as far as they are there. */
const USUAL_DIRECTORIES = ['/boot', '/home', '/media', '/mnt', '/root', '/run', '/srv'];

function listTop(): string[] {
  try {
    return readdirSync('/').map((name) => `/${name}`);
  } catch {
    return USUAL_DIRECTORIES;
  }
}

/** The real files of this machine, each path looked up once. */
export function readHostTree(): FileTree {
  const known = new Map<string, string | null>();
  return {
    realpath(path) {
      let found = known.get(path);
      if (found === undefined) {
        found = resolve(path);
        known.set(path, found);
      }
      return found;
    },
    kind: kindOf,
    isDirectory,
    topPaths: listTop(),
  };
}
