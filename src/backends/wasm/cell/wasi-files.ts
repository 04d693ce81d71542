import { type DirectoryEntry, ROOT_FD } from './descriptors.ts';
import { ERRNO, FileError } from './errno.ts';
import type { TreeStat } from './file-node.ts';
import { type GuestMemory, toNumber } from './guest-memory.ts';
import type { KeeperLine } from './keeper-line.ts';
import type { WasiCall } from './wasi.ts';
import { FILE_TYPES } from './wasi-streams.ts';

const FOLLOW = 1;
const OPEN_CREATE = 1;
const OPEN_DIRECTORY = 2;
const OPEN_EXCLUSIVE = 4;
const OPEN_TRUNCATE = 8;
const RIGHT_READ = 1n << 1n;
const RIGHT_WRITE = 1n << 6n;
const FLAG_APPEND = 1;
const TIME_MODIFIED = 4;
const TIME_MODIFIED_NOW = 8;
const NS_PER_MS = 1_000_000;
const FILESTAT_BYTES = 64;
const ENTRY_BYTES = 24;
const ROOT_NAME = Buffer.from('/');

function putStat(memory: GuestMemory, pointer: number, stat: TreeStat): void {
  const view = memory.view(pointer, FILESTAT_BYTES);
  view.setBigUint64(0, 1n, true);
  view.setBigUint64(8, BigInt(stat.ino), true);
  view.setUint8(16, FILE_TYPES[stat.kind]);
  view.setBigUint64(24, 1n, true);
  view.setBigUint64(32, BigInt(stat.sizeBytes), true);
  const time = BigInt(Math.trunc(stat.modifiedMs * NS_PER_MS));
  for (const at of [40, 48, 56]) view.setBigUint64(at, time, true);
}

function chooseTime(modifiedNs: bigint, flags: number): number | undefined {
  if (flags & TIME_MODIFIED_NOW) return Date.now();
  return flags & TIME_MODIFIED ? Number(modifiedNs) / NS_PER_MS : undefined;
}

/** Entries from `cookie` on, cut off where the buffer ends: a full buffer says that there is more. */
function makeReadDirectory(memory: GuestMemory, line: KeeperLine): WasiCall {
  return (fd: number, buffer: number, size: number, cookie: bigint, result: number) => {
    const entries = line.file('readDirectory', fd, toNumber(cookie));
    const target = memory.bytes(buffer, size);
    let used = 0;
    let next = cookie;
    while (entries.length > 0 && used < target.length) {
      const { name, ino, kind } = entries.shift() as DirectoryEntry;
      next += 1n;
      const text = Buffer.from(name);
      const entry = Buffer.alloc(ENTRY_BYTES + text.length);
      entry.writeBigUInt64LE(next, 0);
      entry.writeBigUInt64LE(BigInt(ino), 8);
      entry.writeUInt32LE(text.length, 16);
      entry.writeUInt8(FILE_TYPES[kind], 20);
      text.copy(entry, ENTRY_BYTES);
      const fitting = entry.subarray(0, target.length - used);
      target.set(fitting, used);
      used += fitting.length;
      if (entries.length === 0) entries.push(...line.file('readDirectory', fd, toNumber(next)));
    }
    memory.setUint32(result, used);
  };
}

function makePathImports(memory: GuestMemory, line: KeeperLine): Record<string, WasiCall> {
  const isFollowed = (flags: number): boolean => (flags & FOLLOW) !== 0;
  return {
    path_open: (
      fd: number,
      look: number,
      path: number,
      length: number,
      how: number,
      rights: bigint,
      _inherited: bigint,
      flags: number,
      result: number,
    ) => {
      const opened = line.file('openAt', fd, memory.text(path, length), {
        isCreating: (how & OPEN_CREATE) !== 0,
        isDirectory: (how & OPEN_DIRECTORY) !== 0,
        isExclusive: (how & OPEN_EXCLUSIVE) !== 0,
        isTruncating: (how & OPEN_TRUNCATE) !== 0,
        canRead: (rights & RIGHT_READ) !== 0n,
        canWrite: (rights & RIGHT_WRITE) !== 0n && (how & OPEN_DIRECTORY) === 0,
        isAppending: (flags & FLAG_APPEND) !== 0,
        isFollowed: isFollowed(look),
      });
      memory.setUint32(result, opened);
    },
    path_filestat_get: (fd: number, look: number, path: number, length: number, result: number) =>
      putStat(memory, result, line.file('statAt', fd, memory.text(path, length), isFollowed(look))),
    path_filestat_set_times: (
      fd: number,
      look: number,
      path: number,
      length: number,
      _accessed: bigint,
      modified: bigint,
      flags: number,
    ) => {
      const time = chooseTime(modified, flags);
      const name = memory.text(path, length);
      if (time !== undefined) line.file('setTime', fd, name, time, isFollowed(look));
    },
    path_create_directory: (fd: number, path: number, length: number) =>
      line.file('makeDirectory', fd, memory.text(path, length)),
    path_remove_directory: (fd: number, path: number, length: number) =>
      line.file('remove', fd, memory.text(path, length), 'directory'),
    path_unlink_file: (fd: number, path: number, length: number) =>
      line.file('remove', fd, memory.text(path, length), 'file'),
    path_rename: (
      fd: number,
      path: number,
      length: number,
      toFd: number,
      to: number,
      toLength: number,
    ) => line.file('rename', fd, memory.text(path, length), toFd, memory.text(to, toLength)),
    path_symlink: (
      target: number,
      targetLength: number,
      fd: number,
      path: number,
      length: number,
    ) => line.file('makeLink', memory.text(target, targetLength), fd, memory.text(path, length)),
    path_readlink: (
      fd: number,
      path: number,
      length: number,
      buffer: number,
      size: number,
      result: number,
    ) => {
      const target = Buffer.from(line.file('readLink', fd, memory.text(path, length)));
      const fitting = target.subarray(0, size >>> 0);
      memory.bytes(buffer, fitting.length).set(fitting);
      memory.setUint32(result, fitting.length);
    },
    path_link: () => ERRNO.NOTSUP,
  };
}

export function makeFileImports(memory: GuestMemory, line: KeeperLine): Record<string, WasiCall> {
  return {
    ...makePathImports(memory, line),
    fd_prestat_get: (fd: number, pointer: number) => {
      if (fd !== ROOT_FD) throw new FileError('BADF');
      const view = memory.view(pointer, 8);
      view.setUint8(0, 0);
      view.setUint32(4, ROOT_NAME.length, true);
    },
    fd_prestat_dir_name: (fd: number, pointer: number, length: number) => {
      if (fd !== ROOT_FD) throw new FileError('BADF');
      if (length >>> 0 < ROOT_NAME.length) throw new FileError('NAMETOOLONG');
      memory.bytes(pointer, ROOT_NAME.length).set(ROOT_NAME);
    },
    fd_readdir: makeReadDirectory(memory, line),
    fd_filestat_get: (fd: number, pointer: number) => {
      const stream: TreeStat = { kind: 'file', ino: 0, sizeBytes: 0, modifiedMs: 0 };
      const isStream = fd >= 0 && fd < ROOT_FD;
      putStat(memory, pointer, isStream ? stream : line.file('statFd', fd));
      if (isStream) memory.view(pointer, FILESTAT_BYTES).setUint8(16, 0);
    },
    fd_filestat_set_size: (fd: number, size: bigint) => line.file('resize', fd, toNumber(size)),
    fd_filestat_set_times: (fd: number, _accessed: bigint, modified: bigint, flags: number) => {
      const time = chooseTime(modified, flags);
      if (time !== undefined) line.file('setTime', fd, undefined, time, true);
    },
    fd_allocate: (fd: number, offset: bigint, length: bigint) =>
      line.file('allocate', fd, toNumber(offset + length)),
  };
}
