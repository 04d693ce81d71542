import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listChildren, makeFileTree, nameInside } from '../../../src/artifacts/page/file-tree.ts';
import { applyFilter, NO_FILTER } from '../../../src/artifacts/page/filter.ts';
import type { Row } from '../../../src/artifacts/page/model.ts';
import { listPrograms } from '../../../src/artifacts/page/program-lines.ts';
import { squarify } from '../../../src/artifacts/page/squarify.ts';

function row(parts: Partial<Row>): Row {
  return {
    seq: 0,
    ms: 0,
    kind: 'file',
    op: 'read',
    path: '/a',
    target: '',
    outcome: 'ok',
    outcomeClass: 'ok',
    program: '/usr/bin/sh',
    refusedBy: undefined,
    isSystem: false,
    event: { type: 'assay.sandbox.fs' } as Row['event'],
    ...parts,
  };
}

describe('squarify()', () => {
  it('fills the box with areas in proportion, without overlap', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(weights, (unsorted) => {
        const sorted = unsorted.toSorted((a, b) => b - a);
        const total = sorted.reduce((sum, weight) => sum + weight, 0);
        const boxes = squarify(sorted, { x: 10, y: 20, width: 400, height: 300 });
        boxes.forEach((box, at) => {
          expect(box.width * box.height).toBeCloseTo(((sorted[at] ?? 0) / total) * 120_000, 3);
          expect(box.x).toBeGreaterThanOrEqual(10 - 1e-6);
          expect(box.x + box.width).toBeLessThanOrEqual(410 + 1e-6);
          expect(box.y + box.height).toBeLessThanOrEqual(320 + 1e-6);
        });
      }),
    );
  });
});

describe('makeFileTree()', () => {
  it('counts a file once, under the gravest of what was done to it', () => {
    const rows = [
      row({ path: '${CWD}/a/x' }),
      row({ path: '${CWD}/a/x', op: 'unlink' }),
      row({ path: '${CWD}/a/x', op: 'write' }),
      row({ path: '/etc/passwd', outcomeClass: 'refused' }),
    ];
    const root = makeFileTree(rows, () => true);
    expect(root.total).toBe(2);
    expect(Object.fromEntries(root.counts)).toEqual({ removed: 1, refused: 1 });
    expect(listChildren(root).map((node) => nameInside(node, root))).toEqual([
      '${CWD}/a/',
      '/etc/',
    ]);
  });

  it('tells a file that was made from one that was changed, by what was left', () => {
    const rows = [
      row({ path: '${CWD}/new', op: 'write' }),
      row({ path: '${CWD}/old', op: 'write' }),
      row({ path: '${CWD}/new', kind: 'change', op: 'created', outcomeClass: 'none' }),
      row({ path: '${CWD}/old', kind: 'change', op: 'modified', outcomeClass: 'none' }),
    ];
    const { counts } = makeFileTree(rows, () => true);
    expect(Object.fromEntries(counts)).toEqual({ created: 1, written: 1 });
  });

  it('does not count a directory that was only looked into', () => {
    const rows = ['${CWD}/a', '${CWD}/a/x', '${CWD}'].map((path) => row({ path }));
    expect(makeFileTree(rows, () => true).total).toBe(1);
    const made = [...rows, row({ path: '${CWD}/a', op: 'mkdir' })];
    expect(Object.fromEntries(makeFileTree(made, () => true).counts)).toEqual({
      created: 1,
      read: 1,
    });
  });

  it('takes names of objects as names, and no path as deep as it likes', () => {
    const deep = `/${'a/'.repeat(5000)}b`;
    const paths = ['/__proto__/x', '/constructor', '/__proto__/toString', deep];
    const root = makeFileTree(
      paths.map((path) => row({ path })),
      () => true,
    );
    expect(root.total).toBe(4);
    let depth = 0;
    for (let node = listChildren(root)[0]; node; node = listChildren(node)[0]) depth += 1;
    expect(depth).toBeLessThan(60);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('applyFilter()', () => {
  const rows = [
    row({ path: '${CWD}/Alpha' }),
    row({ path: '/usr/lib/x', isSystem: true }),
    row({
      kind: 'network',
      op: 'connect',
      path: 'tcp:192.0.2.1:443',
      outcomeClass: 'refused',
      refusedBy: 'net.deny',
    }),
  ];

  it.each([
    ['nothing but what the system has', {}, [0, 2]],
    ['everything', { withSystem: true }, [0, 1, 2]],
    ['a kind', { kinds: new Set(['network'] as const) }, [2]],
    ['an outcome', { outcome: 'refused' as const }, [2]],
    ['words, in any case', { text: 'alpha READ' }, [0]],
    ['words of a rule', { text: 'net.deny' }, [2]],
    ['words that no row has together', { text: 'alpha connect' }, []],
  ])('keeps %s', (_name, change, wanted) => {
    expect(Array.from(applyFilter(rows, { ...NO_FILTER, ...change }))).toEqual(wanted);
  });
});

describe('listPrograms()', () => {
  const ran = (path: string, program: string, ms: number): Row =>
    row({ kind: 'program', op: 'run', path, program, ms });

  it('puts programs under those that started them, the earliest first', () => {
    const lines = listPrograms([
      ran('/bin/cc', '/bin/make', 30),
      ran('/bin/make', 'assay', 10),
      ran('/bin/sh', '/bin/make', 20),
    ]);
    expect(lines.map(({ image, depth }) => [image, depth])).toEqual([
      ['/bin/make', 0],
      ['/bin/sh', 1],
      ['/bin/cc', 1],
    ]);
  });

  it('ends where programs start each other, and forgets none', () => {
    const lines = listPrograms([
      ran('/bin/sh', 'assay', 0),
      ran('/bin/sh', '/bin/sh', 1),
      ran('/a', '/b', 2),
      ran('/b', '/a', 3),
      ran('/lost', '/not/in/the/bundle', 4),
    ]);
    expect(new Set(lines.map(({ image }) => image))).toEqual(
      new Set(['/bin/sh', '/a', '/b', '/lost']),
    );
    expect(lines.filter(({ isAgain }) => isAgain).length).toBeGreaterThan(0);
  });
});
