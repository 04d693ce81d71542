import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { FileError } from '../../../src/backends/wasm/cell/errno.ts';
import { FileTree } from '../../../src/backends/wasm/cell/file-tree.ts';

const LIMITS = { diskBytes: 1000, inodes: 20 };
let tree = new FileTree(LIMITS);

const errnoOf = (act: () => unknown): string => {
  try {
    act();
    return 'nothing';
  } catch (error) {
    if (error instanceof FileError) return error.errno;
    throw error;
  }
};

const write = (path: string, text: string, at = 0): number =>
  tree.write(tree.makeFile(path, 'inside'), Buffer.from(text), at, 'inside');

const read = (path: string): string => {
  const node = tree.look(path);
  return node.kind === 'file' ? Buffer.from(tree.read(node, 0, 10_000)).toString() : node.kind;
};

beforeEach(() => {
  tree = new FileTree(LIMITS);
  tree.makeDirectory('/work', 'outside');
  tree.makeDirectory('/work/a', 'outside');
});

describe('a path', () => {
  it('that goes up from the root stays there', () => {
    write('/work/file', 'x');
    expect(read('/../../work/../../work/file')).toBe('x');
    expect(errnoOf(() => tree.look('/../../etc/passwd'))).toBe('NOENT');
  });

  it.each([
    ['', 'NOENT'],
    ['/work/a\0b', 'INVAL'],
    [`/work/${'x/'.repeat(3000)}`, 'NAMETOOLONG'],
    ['/work/file/below', 'NOTDIR'],
    ['/work/file/', 'NOTDIR'],
    ['/work/none/below', 'NOENT'],
  ])('like %j is refused with %s', (path, errno) => {
    write('/work/file', 'x');
    expect(errnoOf(() => tree.look(path))).toBe(errno);
  });

  it('may bear the names of what objects have', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(errnoOf(() => tree.look(`/work/${name}`))).toBe('NOENT');
    write('/work/__proto__', 'own');
    expect(read('/work/__proto__')).toBe('own');
  });
});

describe('a link', () => {
  it('leads through the tree only, wherever it points', () => {
    write('/work/file', 'x');
    tree.makeLink('/work/absolute', '/work/file', 'inside');
    tree.makeLink('/work/a/relative', '../file', 'inside');
    tree.makeLink('/work/out', '../../../../work/file', 'inside');
    for (const path of ['/work/absolute', '/work/a/relative', '/work/out'])
      expect(read(path)).toBe('x');
  });

  it('that leads to itself is noticed', () => {
    tree.makeLink('/work/one', 'two', 'inside');
    tree.makeLink('/work/two', 'one', 'inside');
    expect(errnoOf(() => tree.look('/work/one'))).toBe('LOOP');
    expect(tree.stat('/work/one', { isFollowed: false }).kind).toBe('link');
  });

  it('does not lead out of a directory that is the limit', () => {
    const within = tree.directory('/work/a');
    write('/work/secret', 'x');
    tree.makeLink('/work/a/up', '..', 'inside');
    tree.makeLink('/work/a/file', '/work/secret', 'inside');
    for (const path of ['up/secret', 'file', '../secret', '/work/secret'])
      expect(
        errnoOf(() => tree.look(path, { from: within, within })),
        path,
      ).toBe('ACCES');
  });
});

describe('space', () => {
  it('is taken by what is written, and partly where it does not suffice', () => {
    expect(write('/work/one', 'x'.repeat(900))).toBe(900);
    expect(write('/work/two', 'x'.repeat(900))).toBe(100);
    expect(errnoOf(() => write('/work/three', 'x'))).toBe('NOSPC');
    expect(tree.space.usedBytes).toBe(1000);
    expect(write('/work/one', 'y'.repeat(900))).toBe(900);
  });

  it('is taken by a length and by a gap, filled or not', () => {
    const file = tree.makeFile('/work/sparse', 'inside');
    expect(errnoOf(() => tree.resize(file, 2 ** 40, 'inside'))).toBe('NOSPC');
    expect(errnoOf(() => write('/work/gap', 'x', 5000))).toBe('NOSPC');
    expect(tree.space.usedBytes).toBe(0);
    tree.resize(file, 1000, 'inside');
    expect(read('/work/sparse')).toBe('\0'.repeat(1000));
  });

  it('comes back when nobody holds a file any more, and not before', () => {
    write('/work/file', 'x'.repeat(1000));
    const node = tree.look('/work/file');
    if (node.kind !== 'file') throw new Error('no file');
    node.opens += 1;
    tree.remove('/work/file', 'file', 'inside');
    expect(errnoOf(() => write('/work/other', 'x'))).toBe('NOSPC');
    node.opens -= 1;
    tree.release(node);
    expect(tree.space.usedBytes).toBe(0);
    expect(write('/work/other', 'x')).toBe(1);
  });

  it('does not show what was there before a file was cut and made longer', () => {
    write('/work/file', 'secret');
    const node = tree.look('/work/file');
    if (node.kind !== 'file') throw new Error('no file');
    tree.resize(node, 0, 'inside');
    tree.resize(node, 6, 'inside');
    expect(read('/work/file')).toBe('\0'.repeat(6));
  });

  it('of names ends, and each says which limit it was', () => {
    const reached: string[] = [];
    tree.space.watch((limit) => void reached.push(limit));
    const make = (): void => {
      for (let index = 0; index < 100; index++) write(`/work/${index}`, '');
    };
    expect(errnoOf(make)).toBe('NOSPC');
    expect(tree.space.usedInodes).toBe(LIMITS.inodes);
    expect(reached).toEqual(['inodes']);
  });

  it('of depth ends, also by renaming', () => {
    tree = new FileTree({ diskBytes: 1000, inodes: 1000 });
    tree.makeDirectory('/work', 'outside');
    const deepen = (): void => {
      let from = tree.directory('/work');
      for (let index = 0; index < 500; index++) from = tree.makeDirectory('d', 'inside', { from });
    };
    expect(errnoOf(deepen)).toBe('NAMETOOLONG');
    tree.makeDirectory('/work/other', 'inside');
    expect(errnoOf(() => tree.rename('/work/d', '/work/other/d', 'inside', [{}, {}]))).toBe(
      'NAMETOOLONG',
    );
  });
});

describe('a read-only directory', () => {
  it('is for programs inside and not for whoever holds it', () => {
    write('/work/a/kept', 'kept');
    tree.directory('/work/a').isReadOnly = true;
    tree.makeLink('/work/way', 'a/kept', 'inside');
    for (const act of [
      () => tree.makeFile('/work/a/new', 'inside'),
      () => tree.makeDirectory('/work/a/new', 'inside'),
      () => tree.makeLink('/work/a/new', 'x', 'inside'),
      () => tree.remove('/work/a/kept', 'file', 'inside'),
      () => tree.rename('/work/a/kept', '/work/taken', 'inside', [{}, {}]),
      () => tree.rename('/work/way', '/work/a/way', 'inside', [{}, {}]),
      () => tree.requireWritable('/work/way', 'inside'),
    ])
      expect(errnoOf(act)).toBe('ROFS');
    expect(errnoOf(() => tree.makeFile('/work/a/new', 'outside'))).toBe('nothing');
  });
});

describe('rename()', () => {
  it('does not put a directory into itself, nor over what is full', () => {
    tree.makeDirectory('/work/a/b', 'inside');
    tree.makeDirectory('/work/c', 'inside');
    const rename = (from: string, to: string) => (): void =>
      tree.rename(from, to, 'inside', [{}, {}]);
    expect(errnoOf(rename('/work/a', '/work/a/b/a'))).toBe('INVAL');
    expect(errnoOf(rename('/work/c', '/work/a'))).toBe('NOTEMPTY');
    expect(errnoOf(rename('/work', '/other'))).toBe('PERM');
    write('/work/file', 'x');
    expect(errnoOf(rename('/work/file', '/work/c'))).toBe('ISDIR');
    expect(errnoOf(rename('/work/c', '/work/file'))).toBe('NOTDIR');
    expect(errnoOf(rename('/work/file', '/work/file'))).toBe('nothing');
    expect(read('/work/file')).toBe('x');
  });
});

describe('any order of operations', () => {
  const name = fc.constantFrom('a', 'b', 'a/b', 'a/c', 'b/a', '..', 'a/..', 'l/b');
  const step = fc.oneof(
    fc.record({ op: fc.constant('write' as const), path: name, size: fc.nat(400) }),
    fc.record({ op: fc.constant('resize' as const), path: name, size: fc.nat(2000) }),
    fc.record({
      op: fc.constantFrom('mkdir' as const, 'rm' as const, 'rmdir' as const),
      path: name,
    }),
    fc.record({ op: fc.constantFrom('rename' as const, 'link' as const), path: name, to: name }),
  );

  it('keeps the accounts of space and names', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const own = new FileTree(LIMITS);
        own.makeDirectory('/work', 'outside');
        const from = own.directory('/work');
        for (const each of steps)
          errnoOf(() => {
            const { op, path } = each;
            if (op === 'write')
              own.write(
                own.makeFile(path, 'inside', { from }),
                Buffer.alloc(each.size),
                0,
                'inside',
              );
            else if (op === 'resize')
              own.resize(own.makeFile(path, 'inside', { from }), each.size, 'inside');
            else if (op === 'mkdir') own.makeDirectory(path, 'inside', { from });
            else if (op === 'rename') own.rename(path, each.to, 'inside', [{ from }, { from }]);
            else if (op === 'link') own.makeLink(path, each.to, 'inside', { from });
            else own.remove(path, op === 'rm' ? 'file' : 'directory', 'inside', { from });
          });
        const count = { bytes: 0, names: 0 };
        const visit = (directory: typeof from): void => {
          for (const node of directory.entries.values()) {
            count.names += 1;
            count.bytes += node.kind === 'file' ? node.sizeBytes : 0;
            count.bytes += node.kind === 'link' ? node.target.length : 0;
            if (node.kind === 'directory') visit(node);
          }
        };
        visit(own.root);
        expect(own.space.usedBytes).toBe(count.bytes);
        expect(own.space.usedInodes).toBe(count.names);
        expect(own.space.usedBytes).toBeLessThanOrEqual(LIMITS.diskBytes);
        expect(own.space.usedInodes).toBeLessThanOrEqual(LIMITS.inodes);
      }),
      { numRuns: 300 },
    );
  });
});
