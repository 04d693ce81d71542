import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Descriptors } from '../../../src/backends/wasm/cell/descriptors.ts';
import { ERRNO } from '../../../src/backends/wasm/cell/errno.ts';
import { FileTree } from '../../../src/backends/wasm/cell/file-tree.ts';
import { GuestMemory } from '../../../src/backends/wasm/cell/guest-memory.ts';
import type { KeeperLine } from '../../../src/backends/wasm/cell/keeper-line.ts';
import { makeWasi, ProgramExit } from '../../../src/backends/wasm/cell/wasi.ts';

const PAGE = 65_536;
/** Bytes at the end of the memory, up to which may be read and no further. */
const FENCE = 4096;

/** The imports over real files, without a thread in between. */
function makeWorld() {
  const whole = new ArrayBuffer(PAGE);
  const memory = new GuestMemory();
  memory.attach({ buffer: whole });
  const tree = new FileTree({ diskBytes: 100_000, inodes: 100 });
  tree.makeDirectory('/workspace', 'outside');
  const descriptors = new Descriptors(tree, 20, () => undefined);
  const output: Uint8Array[] = [];
  const line = {
    file: (op: keyof Descriptors, ...args: never[]) =>
      (descriptors[op] as (...args: never[]) => unknown).apply(descriptors, args),
    readStdin: (count: number) => Buffer.alloc(Math.min(count, 10), 'i'),
    write: (_stream: string, data: Uint8Array) => void output.push(data.slice()),
  } as unknown as KeeperLine;
  const wasi = makeWasi({ memory, line, argv: ['prög', 'é'], env: [['NAME', 'välue']] });
  const call = (name: string, ...args: (number | bigint)[]): unknown =>
    (wasi[name] as (...args: (number | bigint)[]) => unknown)(...args);
  return { bytes: Buffer.from(whole), wasi, call, tree, output };
}

const LONG = new Set(['rights', 'offset', 'time']);
/** The kinds of arguments of each call: which are 64 bits long. */
const SHAPES: Readonly<Record<string, readonly string[]>> = {
  clock_time_get: ['id', 'time', 'out'],
  fd_allocate: ['fd', 'offset', 'offset'],
  fd_filestat_set_size: ['fd', 'offset'],
  fd_filestat_set_times: ['fd', 'time', 'time', 'flags'],
  fd_pread: ['fd', 'list', 'count', 'offset', 'out'],
  fd_pwrite: ['fd', 'list', 'count', 'offset', 'out'],
  fd_readdir: ['fd', 'buffer', 'count', 'offset', 'out'],
  fd_seek: ['fd', 'offset', 'flags', 'out'],
  path_filestat_set_times: ['fd', 'flags', 'path', 'count', 'time', 'time', 'flags'],
  path_open: ['fd', 'flags', 'path', 'count', 'flags', 'rights', 'rights', 'flags', 'out'],
};

const number = fc.oneof(
  fc.constantFrom(
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    64,
    PAGE - 8,
    PAGE - 1,
    PAGE,
    -1,
    -8,
    2 ** 31 - 1,
    -(2 ** 31),
  ),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.nat(PAGE),
);
const long = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 64n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);

describe('the imports of an engine', () => {
  const { wasi } = makeWorld();
  const names = Object.keys(wasi)
    .filter((name) => name !== 'poll_oneoff')
    .toSorted();

  it.each(names)('%s answers with a number, whatever it is called with', (name) => {
    const shape = SHAPES[name] ?? Array.from({ length: 9 }, () => 'number');
    const args = fc.tuple(...shape.map((kind) => (LONG.has(kind) ? long : number)));
    fc.assert(
      fc.property(args, fc.uint8Array({ minLength: 64, maxLength: 64 }), (values, junk) => {
        const world = makeWorld();
        world.bytes.set(junk, 0);
        world.bytes.set(junk, PAGE - 64);
        try {
          expect(Object.values(ERRNO)).toContain(world.call(name, ...values));
        } catch (error) {
          expect(error).toBeInstanceOf(ProgramExit);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('count in bytes, not in letters', () => {
    const { call, bytes } = makeWorld();
    expect(call('args_sizes_get', 0, 4)).toBe(0);
    expect([bytes.readUInt32LE(0), bytes.readUInt32LE(4)]).toEqual([2, 9]);
    bytes.fill(0xaa, 100, 200);
    expect(call('args_get', 16, 100)).toBe(0);
    expect(bytes.toString('utf8', 100, 109)).toBe('prög\0é\0');
    expect(bytes[109]).toBe(0xaa);
    expect(call('environ_get', 16, PAGE - 4)).toBe(ERRNO.FAULT);
  });

  it('give one directory, and no descriptor besides', () => {
    const { call } = makeWorld();
    expect(call('fd_prestat_get', 3, 0)).toBe(0);
    for (const fd of [-1, 0, 1, 2, 4, 5, 100, 2 ** 31 - 1])
      expect(call('fd_prestat_get', fd, 0)).toBe(ERRNO.BADF);
    expect(call('fd_close', 3)).toBe(ERRNO.BADF);
  });

  it('read and write nothing outside of the memory they are given', () => {
    const { call, bytes, output } = makeWorld();
    const inside = bytes.length - FENCE;
    bytes.writeUInt32LE(inside, 0);
    bytes.writeUInt32LE(FENCE + 1, 4);
    expect(call('fd_write', 1, 0, 1, 8)).toBe(ERRNO.FAULT);
    expect(call('fd_read', 0, 0, 1, 8)).toBe(ERRNO.FAULT);
    expect(call('random_get', inside, FENCE + 1)).toBe(ERRNO.FAULT);
    expect(call('random_get', -1, 2)).toBe(ERRNO.FAULT);
    expect(output).toEqual([]);
    expect(call('fd_write', 1, 0, 100_000, 8)).toBe(ERRNO.INVAL);
  });

  it('know no sockets', () => {
    const { call } = makeWorld();
    for (const name of ['sock_accept', 'sock_recv', 'sock_send', 'sock_shutdown'])
      expect(call(name, 3, 0, 0, 0, 0, 0)).toBe(ERRNO.NOTSOCK);
  });

  it('refuse names that are no text', () => {
    const { call, bytes } = makeWorld();
    bytes.set([0xff, 0xfe], 0);
    expect(call('path_create_directory', 3, 0, 2)).toBe(ERRNO.ILSEQ);
  });

  it('wait for a time that is over no time at all', () => {
    const { call, bytes } = makeWorld();
    bytes.writeUInt8(0, 8);
    bytes.writeUInt32LE(1, 16);
    bytes.writeBigUInt64LE(1n, 24);
    bytes.writeUInt16LE(1, 40);
    expect(call('poll_oneoff', 0, 1000, 1, 2000)).toBe(0);
    expect(bytes.readUInt32LE(2000)).toBe(1);
    expect(call('poll_oneoff', 0, 1000, 0, 2000)).toBe(ERRNO.INVAL);
    expect(call('poll_oneoff', 0, 1000, 1_000_000, 2000)).toBe(ERRNO.INVAL);
  });
});
