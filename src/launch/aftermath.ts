import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import { join } from './byte-path.ts';

/** How a file is; numbers as text, since they can be longer than a double holds. */
export interface KnownState {
  readonly isDirectory: boolean;
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** What stands at a path on the host, given as bytes: names need not be text. Null when nothing does. */
export function readState(host: Buffer): KnownState | 'unknown' | null {
  const now = lstat(host);
  if (!now || now === 'unknown') return now ?? null;
  return {
    isDirectory: now.isDirectory(),
    dev: String(now.dev),
    ino: String(now.ino),
    size: Number(now.size),
    mtimeNs: String(now.mtimeNs),
    ctimeNs: String(now.ctimeNs),
  };
}

export function isLink(host: Buffer): boolean {
  const now = lstat(host);
  return now !== 'unknown' && now?.isSymbolicLink() === true;
}

function lstat(host: Buffer): BigIntStats | 'unknown' | undefined {
  try {
    return atHand(host, (path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  } catch (error) {
    return isGone(error) ? undefined : 'unknown';
  }
}

/** Not there, or below something that is no directory any more; and not, say, in a directory that was shut. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

export interface Tree {
  /** Relative to it, directories before what is in them. */
  readonly names: readonly Buffer[];
  /** Directories that were not looked into: they may not be read, or there are more names than wanted. */
  readonly unread: number;
}

/** What lies below a directory; few names more than `max`. */
export function listTree(host: Buffer, max: number): Tree {
  const names: Buffer[] = [];
  let unread = 0;
  const top = lstat(host);
  // A link that has come to stand there since leads to what is no part of it.
  const waiting: Buffer[] = top === 'unknown' || top?.isDirectory() ? [Buffer.alloc(0)] : [];
  for (let below = waiting.pop(); below; below = waiting.pop()) {
    const entries = names.length < max ? readEntries(join(host, below)) : undefined;
    if (!entries) unread += 1;
    for (const entry of entries ?? []) {
      const path = join(below, entry.name);
      names.push(path);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return { names, unread };
}

function readEntries(dir: Buffer): Dirent<Buffer>[] | undefined {
  try {
    return atHand(dir, (path) => readdirSync(path, { withFileTypes: true, encoding: 'buffer' }));
  } catch (error) {
    return isGone(error) ? [] : undefined;
  }
}

/** Of a path that the kernel takes in one piece, with its end; room is left for what stands for the rest. */
const MAX_PATH = 4095 - 32;
const { O_DIRECTORY } = constants;
/** Not among Node's constants: to go through a directory, it need not be readable. */
const O_PATH = 0o10000000;

/** Directories may lie deeper than a path is long: then the way there is gone in pieces. */
function atHand<T>(path: Buffer, use: (path: Buffer) => T): T {
  if (path.length <= MAX_PATH) return use(path);
  const cut = path.lastIndexOf('/', MAX_PATH);
  if (cut <= 0) return use(path);
  const fd = openSync(path.subarray(0, cut), O_PATH | O_DIRECTORY);
  try {
    return atHand(Buffer.concat([Buffer.from(`/proc/self/fd/${fd}`), path.subarray(cut)]), use);
  } finally {
    closeSync(fd);
  }
}
