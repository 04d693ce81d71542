import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

/** Everything below a directory by its path relative to it, as `lstat` and the content tell. */
export type Tree = ReadonlyMap<string, Entry>;

interface Entry {
  /** Type, and content or the text of a link. */
  readonly content: string;
  /** Permissions and owner. */
  readonly attributes: string;
  /** Changes as well when the same bytes are written again or the file is replaced by an equal one. */
  readonly stamp: string;
  readonly isDirectory: boolean;
}

/** Looks at a tree without any help of what is tested. */
export function scanTree(root: string): Tree {
  const entries = new Map<string, Entry>();
  const visit = (path: string): void => {
    for (const name of fs.readdirSync(join(root, path))) {
      const inner = path === '' ? name : `${path}/${name}`;
      const entry = describe(join(root, inner));
      entries.set(inner, entry);
      if (entry.isDirectory) visit(inner);
    }
  };
  visit('');
  return entries;
}

function describe(full: string): Entry {
  const stat = fs.lstatSync(full, { bigint: true });
  return {
    content: `${(stat.mode & 0o170000n).toString(8)} ${readContent(full, stat)}`,
    attributes: `${(stat.mode & 0o7777n).toString(8)} ${stat.uid}:${stat.gid}`,
    stamp: [stat.dev, stat.ino, stat.mtimeNs].join(' '),
    isDirectory: stat.isDirectory(),
  };
}

function readContent(full: string, stat: fs.BigIntStats): string {
  if (stat.isSymbolicLink()) return fs.readlinkSync(full);
  if (!stat.isFile()) return '';
  return createHash('sha256').update(fs.readFileSync(full)).digest('hex');
}

/** Paths, sorted; a directory ends in a slash. */
export interface TreeChanges {
  readonly created: readonly string[];
  readonly removed: readonly string[];
  /** Another content. */
  readonly modified: readonly string[];
  /**
   * The same content, but it was written: the same bytes once more, or an equal file in its place. Directories are
   * not here: their times change with every entry, which is listed itself.
   */
  readonly rewritten: readonly string[];
  /** The same content with other permissions or another owner. */
  readonly attributes: readonly string[];
}

export function compareTrees(before: Tree, after: Tree): TreeChanges {
  const list = (tree: Tree, isWanted: (entry: Entry, path: string) => boolean): string[] =>
    [...tree]
      .filter(([path, entry]) => isWanted(entry, path))
      .map(([path, { isDirectory }]) => (isDirectory ? `${path}/` : path))
      .sort();
  const compare = (isWanted: (old: Entry, entry: Entry) => boolean): string[] =>
    list(after, (entry, path) => {
      const old = before.get(path);
      return old !== undefined && isWanted(old, entry);
    });
  return {
    created: list(after, (_, path) => !before.has(path)),
    removed: list(before, (_, path) => !after.has(path)),
    modified: compare((old, entry) => old.content !== entry.content),
    rewritten: compare(
      (old, entry) =>
        old.content === entry.content && !entry.isDirectory && old.stamp !== entry.stamp,
    ),
    attributes: compare(
      (old, entry) => old.content === entry.content && old.attributes !== entry.attributes,
    ),
  };
}
