import { FileError } from './errno.ts';
import { type GuestMemory, toNumber } from './guest-memory.ts';
import type { KeeperLine } from './keeper-line.ts';
import type { WasiCall, WasiContext } from './wasi.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const MAX_PIECE = 1 << 20;

const UNKNOWN = 0;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const SYMBOLIC_LINK = 7;
export const FILE_TYPES = { file: REGULAR_FILE, directory: DIRECTORY, link: SYMBOLIC_LINK };

const RIGHT_READ = 1n << 1n;
const RIGHT_SEEK = 1n << 2n;
const RIGHT_TELL = 1n << 5n;
const RIGHT_WRITE = 1n << 6n;
const FILE_RIGHTS = RIGHT_READ | RIGHT_SEEK | RIGHT_TELL | RIGHT_WRITE;
const ALL_RIGHTS = (1n << 30n) - 1n;

const WHENCES = ['set', 'current', 'end'] as const;

function takeBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first && first.length <= MAX_PIECE) return first.slice();
  const whole: Uint8Array[] = [];
  let room = MAX_PIECE;
  for (const piece of pieces) {
    whole.push(piece.subarray(0, room));
    room -= Math.min(room, piece.length);
  }
  return Buffer.concat(whole);
}

function putBytes(pieces: readonly Uint8Array[], data: Uint8Array): void {
  let at = 0;
  for (const piece of pieces) {
    if (at >= data.length) return;
    piece.set(data.subarray(at, at + piece.length));
    at += piece.length;
  }
}

function countBytes(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

interface Reading {
  readonly line: KeeperLine;
  readonly memory: GuestMemory;
}

function read({ line, memory }: Reading, fd: number, list: number, count: number): Uint8Array {
  const pieces = memory.vectors(list, count);
  const wanted = Math.min(countBytes(pieces), MAX_PIECE);
  const data = fd === STDIN ? line.readStdin(wanted) : line.file('read', fd, wanted, undefined);
  putBytes(memory.vectors(list, count), data);
  return data;
}

/** What is done with a descriptor, be it a stream or a file. A stream is neither a terminal nor can it be rewound. */
export function makeStreamImports(context: WasiContext): Record<string, WasiCall> {
  const { memory, line, onError } = context;
  const open = new Set([STDIN, STDOUT, STDERR]);
  const isStream = (fd: number): boolean => {
    if (fd < STDIN || fd > STDERR) return false;
    if (!open.has(fd)) throw new FileError('BADF');
    return true;
  };
  const write = (fd: number, data: Uint8Array): number => {
    if (!isStream(fd)) return line.file('write', fd, data, undefined);
    if (fd === STDIN) throw new FileError('BADF');
    if (fd === STDERR) onError?.(data);
    line.write(fd === STDOUT ? 'stdout' : 'stderr', data);
    return data.length;
  };
  const requireFile = (fd: number): void => {
    if (isStream(fd)) throw new FileError('SPIPE');
  };
  return {
    fd_read: (fd: number, list: number, count: number, result: number) => {
      if (isStream(fd) && fd !== STDIN) throw new FileError('BADF');
      memory.setUint32(result, read({ line, memory }, fd, list, count).length);
    },
    fd_pread: (fd: number, list: number, count: number, at: bigint, result: number) => {
      requireFile(fd);
      const pieces = memory.vectors(list, count);
      const wanted = Math.min(countBytes(pieces), MAX_PIECE);
      const data = line.file('read', fd, wanted, toNumber(at));
      putBytes(pieces, data);
      memory.setUint32(result, data.length);
    },
    fd_write: (fd: number, list: number, count: number, result: number) =>
      memory.setUint32(result, write(fd, takeBytes(memory.vectors(list, count)))),
    fd_pwrite: (fd: number, list: number, count: number, at: bigint, result: number) => {
      requireFile(fd);
      const data = takeBytes(memory.vectors(list, count));
      memory.setUint32(result, line.file('write', fd, data, toNumber(at)));
    },
    fd_seek: (fd: number, offset: bigint, whence: number, result: number) => {
      requireFile(fd);
      const name = WHENCES[whence];
      if (name === undefined) throw new FileError('INVAL');
      memory.setUint64(result, BigInt(line.file('seek', fd, toNumber(offset), name)));
    },
    fd_tell: (fd: number, result: number) => {
      requireFile(fd);
      memory.setUint64(result, BigInt(line.file('seek', fd, 0, 'current')));
    },
    fd_close: (fd: number) => {
      if (isStream(fd)) open.delete(fd);
      else line.file('close', fd);
    },
    fd_fdstat_get: (fd: number, pointer: number) => {
      const stat = isStream(fd) ? undefined : line.file('statFd', fd);
      const view = memory.view(pointer, 24);
      view.setUint8(0, stat ? FILE_TYPES[stat.kind] : UNKNOWN);
      view.setUint16(2, 0, true);
      const rights = stat
        ? stat.kind === 'directory'
          ? ALL_RIGHTS
          : FILE_RIGHTS
        : fd === STDIN
          ? RIGHT_READ
          : RIGHT_WRITE;
      view.setBigUint64(8, rights, true);
      view.setBigUint64(16, ALL_RIGHTS, true);
    },
    // A stream does not wait for anybody and a file is never waited for.
    fd_fdstat_set_flags: (fd: number) => {
      if (!isStream(fd)) line.file('statFd', fd);
    },
    fd_sync: (fd: number) => {
      if (!isStream(fd)) line.file('statFd', fd);
    },
    fd_datasync: (fd: number) => {
      if (!isStream(fd)) line.file('statFd', fd);
    },
    fd_advise: (fd: number) => {
      requireFile(fd);
      line.file('statFd', fd);
    },
  };
}
