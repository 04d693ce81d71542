import { CATEGORIES, type Category, categoryOf } from './categories.ts';
import type { Row } from './model.ts';

export interface FileNode {
  readonly name: string;
  /** From the top. */
  readonly path: string;
  readonly children: Map<string, FileNode>;
  /** How many files, by category. */
  readonly counts: Map<Category, number>;
  total: number;
  readonly parent: FileNode | undefined;
}

/** A path with more parts than this has the rest as one name, so that no name can make the tree deep. */
const MAX_DEPTH = 48;

const QUIET: ReadonlySet<Category> = new Set(['read', 'failed']);

/** Each touched file once, in its directory, under the gravest of what was done to it. */
export function makeFileTree(rows: readonly Row[], isShown: (row: Row) => boolean): FileNode {
  const gravest = new Map<string, number>();
  for (const row of rows) {
    if ((row.kind !== 'file' && row.kind !== 'change') || !isShown(row)) continue;
    const path = row.path.replace(/(?<=.)\/$/, '');
    const rank = CATEGORIES.indexOf(categoryOf(row));
    const known = gravest.get(path);
    if (known === undefined || rank < known) gravest.set(path, rank);
  }
  const directories = findDirectories(gravest.keys());
  const root = makeNode('', '', undefined);
  for (const [path, rank] of gravest) {
    const category = CATEGORIES[rank] ?? 'read';
    // To look into a directory is no more than to look at what is in it.
    if (!(QUIET.has(category) && directories.has(path))) addFile(root, path, category);
  }
  return root;
}

function findDirectories(paths: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) {
    let parent = path;
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const slash = parent.lastIndexOf('/');
      if (slash <= 0) break;
      parent = parent.slice(0, slash);
      if (found.has(parent)) break;
      found.add(parent);
    }
  }
  return found;
}

function makeNode(name: string, path: string, parent: FileNode | undefined): FileNode {
  return { name, path, children: new Map(), counts: new Map(), total: 0, parent };
}

function addFile(root: FileNode, path: string, category: Category): void {
  let node = root;
  count(node, category);
  for (const name of splitPath(path)) {
    let next = node.children.get(name);
    if (!next) {
      next = makeNode(name, joinPath(node.path, name), node);
      node.children.set(name, next);
    }
    node = next;
    count(node, category);
  }
}

function joinPath(parent: string, name: string): string {
  return parent === '' || parent.endsWith('/') ? parent + name : `${parent}/${name}`;
}

function count(node: FileNode, category: Category): void {
  node.total += 1;
  node.counts.set(category, (node.counts.get(category) ?? 0) + 1);
}

function splitPath(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  const top = path.startsWith('/') ? ['/'] : [];
  if (parts.length <= MAX_DEPTH) return [...top, ...parts];
  return [...top, ...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join('/')];
}

/** The children, the largest first. A directory with nothing in it but another stands as one with that. */
export function listChildren(node: FileNode): FileNode[] {
  return Array.from(node.children.values(), skipSingle).sort(
    (a, b) => b.total - a.total || (a.path < b.path ? -1 : 1),
  );
}

export function skipSingle(node: FileNode): FileNode {
  let at = node;
  while (at.children.size === 1) {
    const [only] = at.children.values();
    if (!only || only.children.size === 0 || only.total !== at.total) break;
    at = only;
  }
  return at;
}

/** What to call a node when it stands inside of another. */
export function nameInside(node: FileNode, outer: FileNode): string {
  const start = outer.path === '' || outer.path.endsWith('/') ? outer.path : `${outer.path}/`;
  const name = node.path.slice(start.length);
  return node.children.size > 0 && !name.endsWith('/') ? `${name}/` : name;
}
