import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';

/** How a file was; numbers as text, since they can be longer than a double holds. */
export interface KnownState {
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
}

export interface Touched {
  /** On the host, as bytes: names need not be text. */
  readonly host: Buffer;
  readonly before?: KnownState | undefined;
}

/** How what a run has touched is now. Without a state before, what is there counts as changed. */
export function readFinalState({ host, before }: Touched): 'absent' | 'same' | 'changed' {
  const now = lstat(host);
  if (!now) return 'absent';
  if (!before) return 'changed';
  const isSame =
    String(now.dev) === before.dev &&
    String(now.ino) === before.ino &&
    Number(now.size) === before.size &&
    String(now.mtimeNs) === before.mtimeNs;
  return isSame ? 'same' : 'changed';
}

export function isLink(host: Buffer): boolean {
  return lstat(host)?.isSymbolicLink() === true;
}

function lstat(host: Buffer): BigIntStats | undefined {
  try {
    return atHand(host, (path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  } catch {
    return undefined; // below something that is no directory any more: gone
  }
}

/** What lies below a directory, relative to it, directories before what is in them; at most `max` names. */
export function listTree(host: Buffer, max: number): Buffer[] {
  const found: Buffer[] = [];
  // A link that has come to stand there since leads to what is no part of it.
  const waiting: Buffer[] = lstat(host)?.isDirectory() ? [Buffer.alloc(0)] : [];
  for (let below = waiting.pop(); below && found.length < max; below = waiting.pop()) {
    for (const entry of readEntries(join(host, below))) {
      const path = join(below, entry.name);
      found.push(path);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return found;
}

const SLASH = Buffer.from('/');

function join(dir: Buffer, name: Buffer): Buffer {
  if (dir.length === 0) return name;
  return name.length === 0 ? dir : Buffer.concat([dir, SLASH, name]);
}

function readEntries(dir: Buffer): Dirent<Buffer>[] {
  try {
    return atHand(dir, (path) => readdirSync(path, { withFileTypes: true, encoding: 'buffer' }));
  } catch {
    return []; // moved on, or not ours to read
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
