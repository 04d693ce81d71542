import { FileError } from './errno.ts';
import {
  type DirectoryNode,
  type FileNode,
  type LinkNode,
  statNode,
  type TreeNode,
  type TreeStat,
} from './file-node.ts';
import { Space, type SpaceLimits } from './space.ts';

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
const MAX_LINKS = 32;
/** So that whoever goes through the tree comes to an end. */
const MAX_DEPTH = 64;
const MIN_CAPACITY = 256;

/** Who asks: a program inside, or whoever holds the sandbox. */
export type Actor = 'inside' | 'outside';

interface Place {
  readonly parent: DirectoryNode;
  readonly name: string;
  readonly node: TreeNode | undefined;
}

export interface LookOptions {
  /** Where relative paths start; the root unless given. */
  readonly from?: DirectoryNode | undefined;
  /** Whether a link in the last place is followed. */
  readonly isFollowed?: boolean | undefined;
  /** Nothing outside of this directory is looked at. */
  readonly within?: DirectoryNode | undefined;
}

function splitPath(path: string): string[] {
  if (path === '') throw new FileError('NOENT');
  if (path.includes('\0')) throw new FileError('INVAL');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new FileError('NAMETOOLONG');
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** The only files that there are inside: a tree in memory, whose root has nothing above it. */
export class FileTree {
  readonly root: DirectoryNode;
  readonly space: Space;
  private lastIno = 0;

  constructor(limits: SpaceLimits) {
    this.space = new Space(limits);
    this.root = this.newDirectory(undefined);
  }

  private newDirectory(parent: DirectoryNode | undefined): DirectoryNode {
    this.lastIno += 1;
    return {
      kind: 'directory',
      ino: this.lastIno,
      entries: new Map(),
      modifiedMs: Date.now(),
      parent,
      depth: parent ? parent.depth + 1 : 0,
      isReadOnly: parent?.isReadOnly ?? false,
    };
  }

  /** Finds the last place of a path. Going up from the root stays there; links lead through this tree only. */
  private find(path: string, { from, isFollowed = true, within }: LookOptions): Place {
    let here = path.startsWith('/') ? this.root : (from ?? this.root);
    const parts = splitPath(path);
    const needsDirectory = path.endsWith('/');
    let linksLeft = MAX_LINKS;
    let last: Place = { parent: here, name: '.', node: here };
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const isLast = parts.length === 0;
      if (part === '..') {
        here = here.parent ?? here;
        last = { parent: here, name: '.', node: here };
      } else {
        const node = here.entries.get(part);
        if (node?.kind === 'link' && (!isLast || isFollowed || needsDirectory)) {
          linksLeft -= 1;
          if (linksLeft < 0) throw new FileError('LOOP');
          if (node.target.startsWith('/')) here = this.root;
          parts.unshift(...splitPath(node.target));
          last = { parent: here, name: '.', node: here };
        } else {
          last = { parent: here, name: part, node };
          if (!isLast && !node) throw new FileError('NOENT');
          if (!isLast && node?.kind !== 'directory') throw new FileError('NOTDIR');
          if (node?.kind === 'directory') here = node;
        }
      }
      if (within && !isAtOrBelow(here, within)) throw new FileError('ACCES');
    }
    if (needsDirectory && last.node && last.node.kind !== 'directory')
      throw new FileError('NOTDIR');
    return last;
  }

  look(path: string, options: LookOptions = {}): TreeNode {
    const { node } = this.find(path, options);
    if (!node) throw new FileError('NOENT');
    return node;
  }

  stat(path: string, options: LookOptions = {}): TreeStat {
    return statNode(this.look(path, options));
  }

  directory(path: string, options: LookOptions = {}): DirectoryNode {
    const node = this.look(path, options);
    if (node.kind !== 'directory') throw new FileError('NOTDIR');
    return node;
  }

  private add(place: Place, node: TreeNode, actor: Actor): void {
    const { parent, name } = place;
    if (place.node) throw new FileError('EXIST');
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new FileError('NAMETOOLONG');
    if (parent.isReadOnly && actor === 'inside') throw new FileError('ROFS');
    this.space.takeInode();
    parent.entries.set(name, node);
    parent.modifiedMs = Date.now();
  }

  makeDirectory(path: string, actor: Actor, options: LookOptions = {}): DirectoryNode {
    const place = this.find(path.replace(/\/+$/, '') || '/', { ...options, isFollowed: false });
    const node = this.newDirectory(place.parent);
    if (node.depth > MAX_DEPTH) throw new FileError('NAMETOOLONG');
    this.add(place, node, actor);
    return node;
  }

  makeLink(path: string, target: string, actor: Actor, options: LookOptions = {}): void {
    splitPath(target);
    const place = this.find(path, { ...options, isFollowed: false });
    const targetBytes = Buffer.byteLength(target);
    this.space.takeAll(targetBytes);
    this.lastIno += 1;
    const node: LinkNode = {
      kind: 'link',
      ino: this.lastIno,
      target,
      modifiedMs: Date.now(),
    };
    try {
      this.add(place, node, actor);
    } catch (error) {
      this.space.giveBack(targetBytes);
      throw error;
    }
  }

  /** The file at `path`, made if it is not there. */
  makeFile(path: string, actor: Actor, options: LookOptions = {}): FileNode {
    const place = this.find(path, options);
    if (place.node?.kind === 'file') return place.node;
    if (place.node) throw new FileError('ISDIR');
    if (path.endsWith('/')) throw new FileError('ISDIR');
    this.lastIno += 1;
    const node: FileNode = {
      kind: 'file',
      ino: this.lastIno,
      bytes: new Uint8Array(0),
      sizeBytes: 0,
      modifiedMs: Date.now(),
      links: 1,
      opens: 0,
      isFromInside: actor === 'inside',
    };
    this.add(place, node, actor);
    return node;
  }

  requireWritable(path: string, actor: Actor, options: LookOptions = {}): void {
    if (this.find(path, options).parent.isReadOnly && actor === 'inside')
      throw new FileError('ROFS');
  }

  /** Sets the length, which counts whether or not there is anything in it. */
  resize(file: FileNode, sizeBytes: number, actor: Actor): void {
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new FileError('INVAL');
    if (sizeBytes > file.sizeBytes) {
      this.space.takeAll(sizeBytes - file.sizeBytes);
      this.reserve(file, sizeBytes);
    } else {
      this.space.giveBack(file.sizeBytes - sizeBytes);
      file.bytes.fill(0, sizeBytes, file.sizeBytes);
    }
    file.sizeBytes = sizeBytes;
    file.modifiedMs = Date.now();
    file.isFromInside = actor === 'inside';
  }

  private reserve(file: FileNode, sizeBytes: number): void {
    if (sizeBytes <= file.bytes.length) return;
    const grown = new Uint8Array(Math.max(sizeBytes, file.bytes.length * 2, MIN_CAPACITY));
    grown.set(file.bytes.subarray(0, file.sizeBytes));
    file.bytes = grown;
  }

  /** Returns how much was written: less than all of it when the disk is nearly full, as `write` does. */
  write(file: FileNode, data: Uint8Array, at: number, actor: Actor): number {
    if (!Number.isSafeInteger(at) || at < 0) throw new FileError('INVAL');
    if (data.length === 0) return 0;
    const gap = Math.max(0, at - file.sizeBytes);
    this.space.takeAll(gap);
    const end = Math.max(file.sizeBytes, at);
    let fitting = data.length;
    try {
      const beyond = Math.max(0, at + data.length - end);
      fitting -= beyond - this.space.takeSome(beyond);
    } catch (error) {
      this.space.giveBack(gap);
      throw error;
    }
    this.reserve(file, at + fitting);
    file.bytes.set(data.subarray(0, fitting), at);
    file.sizeBytes = Math.max(file.sizeBytes, at + fitting);
    file.modifiedMs = Date.now();
    file.isFromInside = actor === 'inside';
    return fitting;
  }

  read(file: FileNode, at: number, maxBytes: number): Uint8Array<ArrayBuffer> {
    if (at >= file.sizeBytes) return new Uint8Array(0);
    return file.bytes.slice(at, Math.min(file.sizeBytes, at + maxBytes));
  }

  remove(
    path: string,
    wanted: 'file' | 'directory',
    actor: Actor,
    options: LookOptions = {},
  ): void {
    const trimmed = wanted === 'directory' ? path.replace(/\/+$/, '') || '/' : path;
    const { parent, name, node } = this.find(trimmed, { ...options, isFollowed: false });
    if (!node) throw new FileError('NOENT');
    if (name === '.' || node === this.root) throw new FileError('INVAL');
    if (wanted === 'directory' && node.kind !== 'directory') throw new FileError('NOTDIR');
    if (wanted === 'file' && node.kind === 'directory') throw new FileError('ISDIR');
    if (parent.isReadOnly && actor === 'inside') throw new FileError('ROFS');
    if (parent === this.root) throw new FileError('PERM');
    if (node.kind === 'directory' && node.entries.size > 0) throw new FileError('NOTEMPTY');
    this.detach(parent, name, node);
  }

  private detach(parent: DirectoryNode, name: string, node: TreeNode): void {
    parent.entries.delete(name);
    parent.modifiedMs = Date.now();
    if (node.kind === 'file') {
      node.links -= 1;
      this.release(node);
      return;
    }
    if (node.kind === 'link') this.space.giveBack(Buffer.byteLength(node.target));
    this.space.giveInodeBack();
  }

  /** Gives the space of a file back that nobody can reach any more. */
  release(file: FileNode): void {
    if (file.links > 0 || file.opens > 0) return;
    this.space.giveBack(file.sizeBytes);
    this.space.giveInodeBack();
    file.sizeBytes = 0;
    file.bytes = new Uint8Array(0);
  }

  rename(from: string, to: string, actor: Actor, options: [LookOptions, LookOptions]): void {
    const source = this.find(from.replace(/\/+$/, '') || '/', {
      ...options[0],
      isFollowed: false,
    });
    const target = this.find(to.replace(/\/+$/, '') || '/', { ...options[1], isFollowed: false });
    const { node } = source;
    if (!node) throw new FileError('NOENT');
    if (source.name === '.' || target.name === '.') throw new FileError('INVAL');
    if (source.parent === this.root || target.parent === this.root) throw new FileError('PERM');
    if ((source.parent.isReadOnly || target.parent.isReadOnly) && actor === 'inside')
      throw new FileError('ROFS');
    if (Buffer.byteLength(target.name) > MAX_NAME_BYTES) throw new FileError('NAMETOOLONG');
    if (node === target.node) return;
    if (node.kind === 'directory' && isAtOrBelow(target.parent, node)) throw new FileError('INVAL');
    if (target.parent.depth + heightOf(node) > MAX_DEPTH) throw new FileError('NAMETOOLONG');
    if (target.node) {
      if (node.kind === 'directory' && target.node.kind !== 'directory')
        throw new FileError('NOTDIR');
      if (node.kind !== 'directory' && target.node.kind === 'directory')
        throw new FileError('ISDIR');
      if (target.node.kind === 'directory' && target.node.entries.size > 0)
        throw new FileError('NOTEMPTY');
      this.detach(target.parent, target.name, target.node);
    }
    source.parent.entries.delete(source.name);
    target.parent.entries.set(target.name, node);
    if (node.kind === 'directory') settle(node, target.parent);
  }
}

/** Directories from the highest to the deepest, itself included. */
function heightOf(node: TreeNode): number {
  if (node.kind !== 'directory') return 0;
  return 1 + Math.max(0, ...Array.from(node.entries.values(), heightOf));
}

function settle(node: DirectoryNode, parent: DirectoryNode): void {
  node.parent = parent;
  node.depth = parent.depth + 1;
  for (const entry of node.entries.values()) if (entry.kind === 'directory') settle(entry, node);
}

function isAtOrBelow(node: DirectoryNode, above: DirectoryNode): boolean {
  for (let at: DirectoryNode | undefined = node; at; at = at.parent) if (at === above) return true;
  return false;
}
