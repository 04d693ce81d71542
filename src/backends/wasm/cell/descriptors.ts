import { posix } from 'node:path';
import type { LimitName } from '../../backend.ts';
import { FileError } from './errno.ts';
import { type DirectoryNode, type FileNode, statNode, type TreeStat } from './file-node.ts';
import type { FileTree, LookOptions } from './file-tree.ts';

/** 0, 1 and 2 are the streams, 3 is the root. */
export const ROOT_FD = 3;
const FIRST_FD = 4;
const MAX_PIECE = 1 << 20;
const MAX_ENTRIES = 256;

interface OpenFile {
  readonly node: FileNode | DirectoryNode;
  readonly path: string;
  readonly canRead: boolean;
  readonly canWrite: boolean;
  readonly isAppending: boolean;
  offset: number;
}

export interface OpenRequest {
  readonly isCreating: boolean;
  readonly isExclusive: boolean;
  readonly isTruncating: boolean;
  readonly isDirectory: boolean;
  readonly canRead: boolean;
  readonly canWrite: boolean;
  readonly isAppending: boolean;
  readonly isFollowed: boolean;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly ino: number;
  readonly kind: TreeStat['kind'];
}

/** The files that one run has open. All of it is done outside of the engine, which only asks. */
export class Descriptors {
  private readonly tree: FileTree;
  private readonly open = new Map<number, OpenFile>();
  private readonly maxOpen: number;
  private readonly onReached: (limit: LimitName) => void;

  constructor(tree: FileTree, maxOpen: number, onReached: (limit: LimitName) => void) {
    this.tree = tree;
    this.maxOpen = maxOpen;
    this.onReached = onReached;
    const root: OpenFile = {
      node: tree.root,
      path: '/',
      canRead: true,
      canWrite: false,
      isAppending: false,
      offset: 0,
    };
    this.open.set(ROOT_FD, root);
  }

  private get(fd: number): OpenFile {
    const file = this.open.get(fd);
    if (!file) throw new FileError('BADF');
    return file;
  }

  private file(fd: number): OpenFile & { readonly node: FileNode } {
    const file = this.get(fd);
    if (file.node.kind !== 'file') throw new FileError('ISDIR');
    return file as OpenFile & { readonly node: FileNode };
  }

  private from(fd: number, isFollowed = true): LookOptions {
    const { node } = this.get(fd);
    if (node.kind !== 'directory') throw new FileError('NOTDIR');
    return { from: node, isFollowed };
  }

  /** A path as the program meant it; where links lead is not in it. */
  nameOf(at: number, path: string): string {
    const base = path.startsWith('/') ? '' : (this.open.get(at)?.path ?? '');
    return posix.normalize(`${base}/${path}`).replace(/^\/+/, '/');
  }

  private allot(): number {
    if (this.open.size - 1 >= this.maxOpen) {
      this.onReached('openFiles');
      throw new FileError('MFILE');
    }
    let fd = FIRST_FD;
    while (this.open.has(fd)) fd += 1;
    return fd;
  }

  openAt(at: number, path: string, request: OpenRequest): number {
    const options = this.from(at, request.isFollowed);
    const fd = this.allot();
    const node = this.findForOpen(path, request, options);
    if (request.isDirectory && node.kind !== 'directory') throw new FileError('NOTDIR');
    if (node.kind === 'directory' && (request.canWrite || request.isTruncating))
      throw new FileError('ISDIR');
    if (node.kind === 'file') {
      if (request.isTruncating) this.tree.resize(node, 0, 'inside');
      node.opens += 1;
    }
    const { canRead, canWrite, isAppending } = request;
    const whole = this.nameOf(at, path);
    this.open.set(fd, { node, path: whole, canRead, canWrite, isAppending, offset: 0 });
    return fd;
  }

  private findForOpen(
    path: string,
    request: OpenRequest,
    options: LookOptions,
  ): FileNode | DirectoryNode {
    const isChanging = request.canWrite || request.isTruncating;
    if (isChanging || request.isCreating) {
      const found = this.lookup(path, options);
      if (found && request.isCreating && request.isExclusive) throw new FileError('EXIST');
      if (!found && !request.isCreating) throw new FileError('NOENT');
      if (found && isChanging && found.kind === 'file')
        this.tree.requireWritable(path, 'inside', options);
      if (!found) return this.tree.makeFile(path, 'inside', options);
    }
    const node = this.tree.look(path, options);
    if (node.kind === 'link') throw new FileError('LOOP');
    return node;
  }

  private lookup(path: string, options: LookOptions): ReturnType<FileTree['look']> | undefined {
    try {
      return this.tree.look(path, options);
    } catch (error) {
      if (error instanceof FileError && error.errno === 'NOENT') return undefined;
      throw error;
    }
  }

  close(fd: number): void {
    const { node } = this.get(fd);
    if (fd === ROOT_FD) throw new FileError('BADF');
    this.open.delete(fd);
    if (node.kind !== 'file') return;
    node.opens -= 1;
    this.tree.release(node);
  }

  closeAll(): void {
    for (const fd of this.open.keys()) if (fd !== ROOT_FD) this.close(fd);
  }

  read(fd: number, maxBytes: number, at: number | undefined): Uint8Array<ArrayBuffer> {
    const file = this.file(fd);
    if (!file.canRead) throw new FileError('BADF');
    const data = this.tree.read(file.node, at ?? file.offset, Math.min(maxBytes, MAX_PIECE));
    if (at === undefined) file.offset += data.length;
    return data;
  }

  write(fd: number, data: Uint8Array, at: number | undefined): number {
    const file = this.file(fd);
    if (!file.canWrite) throw new FileError('BADF');
    const place = file.isAppending ? file.node.sizeBytes : (at ?? file.offset);
    const written = this.tree.write(file.node, data, place, 'inside');
    if (at === undefined || file.isAppending) file.offset = place + written;
    return written;
  }

  seek(fd: number, offset: number, whence: 'set' | 'current' | 'end'): number {
    const file = this.file(fd);
    const bases = { set: 0, current: file.offset, end: file.node.sizeBytes };
    const place = bases[whence] + offset;
    if (!Number.isSafeInteger(place) || place < 0) throw new FileError('INVAL');
    file.offset = place;
    return place;
  }

  resize(fd: number, sizeBytes: number): void {
    const file = this.file(fd);
    if (!file.canWrite) throw new FileError('BADF');
    this.tree.resize(file.node, sizeBytes, 'inside');
  }

  /** Makes sure of the space up to `sizeBytes`, which makes a file longer and never shorter. */
  allocate(fd: number, sizeBytes: number): void {
    if (this.file(fd).node.sizeBytes < sizeBytes) this.resize(fd, sizeBytes);
  }

  statFd(fd: number): TreeStat {
    return statNode(this.get(fd).node);
  }

  isWritable(fd: number): boolean {
    return this.get(fd).canWrite;
  }

  statAt(at: number, path: string, isFollowed: boolean): TreeStat {
    return this.tree.stat(path, this.from(at, isFollowed));
  }

  setTime(at: number, path: string | undefined, modifiedMs: number, isFollowed: boolean): void {
    const node = path === undefined ? this.get(at).node : this.look(at, path, isFollowed);
    if (path === undefined ? node.kind === 'file' && !this.get(at).canWrite : false)
      throw new FileError('BADF');
    if (path !== undefined) this.tree.requireWritable(path, 'inside', this.from(at, isFollowed));
    node.modifiedMs = modifiedMs;
  }

  private look(at: number, path: string, isFollowed: boolean): ReturnType<FileTree['look']> {
    return this.tree.look(path, this.from(at, isFollowed));
  }

  /** From the `from`th on, some at a time. */
  readDirectory(fd: number, from: number): DirectoryEntry[] {
    const { node } = this.get(fd);
    if (node.kind !== 'directory') throw new FileError('NOTDIR');
    const own = { ino: node.ino, kind: 'directory' } as const;
    const above = { ino: (node.parent ?? node).ino, kind: 'directory' } as const;
    const entries = Array.from(node.entries, ([name, { ino, kind }]) => ({ name, ino, kind }));
    const all = [{ name: '.', ...own }, { name: '..', ...above }, ...entries];
    return all.slice(from, from + MAX_ENTRIES);
  }

  makeDirectory(at: number, path: string): void {
    this.tree.makeDirectory(path, 'inside', this.from(at));
  }

  makeLink(target: string, at: number, path: string): void {
    this.tree.makeLink(path, target, 'inside', this.from(at));
  }

  readLink(at: number, path: string): string {
    const node = this.look(at, path, false);
    if (node.kind !== 'link') throw new FileError('INVAL');
    return node.target;
  }

  remove(at: number, path: string, wanted: 'file' | 'directory'): void {
    this.tree.remove(path, wanted, 'inside', this.from(at));
  }

  rename(at: number, path: string, toAt: number, to: string): void {
    this.tree.rename(path, to, 'inside', [this.from(at), this.from(toAt)]);
  }

  /** Code from outside: what a program inside has written is not. */
  readGiven(path: string): { readonly bytes: Uint8Array; readonly isFromInside: boolean } {
    const node = this.tree.look(path);
    if (node.kind !== 'file') throw new FileError('ISDIR');
    return { bytes: node.bytes.slice(0, node.sizeBytes), isFromInside: node.isFromInside };
  }
}
