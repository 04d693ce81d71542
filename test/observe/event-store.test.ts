import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Recording } from '../../src/observe/recorder.ts';
import { type EventFields, eventLine, newRecorder, programLine, record } from './lines.ts';

const MAX_EVENTS = 256;

function recordAll(all: readonly EventFields[], rest = ''): Recording {
  const text = all.map((fields, index) => eventLine({ id: index + 1, ...fields })).join('');
  return record(text + rest, { maxEvents: MAX_EVENTS });
}

function countAll({ events, overflow }: Recording): number {
  const told = events.reduce((sum, event) => sum + ('count' in event ? event.count : 0), 0);
  return told + overflow.reduce((sum, { count }) => sum + count, 0);
}

function flood(directory: string, count: number): EventFields[] {
  return Array.from({ length: count }, (_, index) => ({ path: `${directory}/${index}` }));
}

describe('more distinct events than can be kept', () => {
  it('are all counted, and folded by directory, operation, outcome and program', () => {
    const result = recordAll([
      ...flood('/w/a', 1000),
      ...flood('/w/b', 1000).map((fields) => ({ ...fields, op: 'read', errno: 2, program: 3 })),
    ]);
    expect(countAll(result)).toBe(2000);
    expect(result.events.length).toBeLessThan(MAX_EVENTS);
    expect(result.overflow).toMatchObject([
      { op: 'create', directory: '/w/a', outcome: 'ok', program: 1, count: 1000 },
      { op: 'read', directory: '/w/b', outcome: 'ENOENT', program: 3, count: 1000 },
    ]);
    expect(result.overflow[0]?.digest).toMatch(/^[0-9a-f]{32}$/);
  });

  it('have the time of the first of them, and the others their own', () => {
    const names = flood('/w/a', 2000).map((fields, index) => ({ ...fields, atMs: 5000 - index }));
    const { events, overflow } = recordAll([{ path: '/w/b/x', atMs: 7 }, ...names]);
    expect(overflow).toMatchObject([{ atMs: 3001 }]);
    expect(events).toMatchObject([{ path: '/w/b/x', atMs: 7 }]);
  });

  it('hide nothing that happened elsewhere, before them or after', () => {
    const before = { path: '/home/u/.bashrc', op: 'write' };
    const after = { path: '/home/u/.ssh/id', op: 'read', rule: 4, errno: 13 };
    const { events } = recordAll([before, ...flood('/w/a', 5000), after]);
    expect(events).toMatchObject([
      { path: '/home/u/.bashrc', op: 'write' },
      { path: '/home/u/.ssh/id', decision: { rule: 'rule 4' } },
    ]);
  });

  it('are moves of one directory that are told each time', () => {
    const [d, e] = ['/w/d', '/w/e'];
    const moves = Array.from({ length: 100_000 }, (_, index) => ({
      op: 'rename',
      flags: 33,
      ...(index % 2 ? { path: e, target: d } : { path: d, target: e }),
    }));
    const result = recordAll([{ path: '/w/d/x' }, ...moves]);
    expect(countAll(result)).toBe(100_001);
    expect(result.events).toMatchObject([{ path: '/w/d/x' }]);
    expect(result.overflow).toMatchObject([{ op: 'rename', directory: '/w', count: 100_000 }]);
  });

  it('have a digest that does not depend on their order, or on where the directory lies', () => {
    const names = flood('/w/a', 2000);
    const [fold] = recordAll(names).overflow;
    expect(recordAll(names.toReversed()).overflow).toEqual([fold]);
    const elsewhere = recordAll(flood('/home/u/other', 2000)).overflow;
    expect(elsewhere).toEqual([{ ...fold, directory: '/home/u/other' }]);
  });

  it.each([
    ['another name', { path: '/w/a/x' }],
    ['another target', { path: '/w/a/1999', target: '/w/t' }],
    ['the same name twice', { path: '/w/a/0' }],
  ])('have another digest with %s', (_, last) => {
    const names = flood('/w/a', 2000);
    const [fold] = recordAll(names).overflow;
    const [other] = recordAll([...names.slice(0, -1), last]).overflow;
    expect(other).toMatchObject({ directory: '/w/a', count: 2000 });
    expect(other?.digest).not.toBe(fold?.digest);
  });

  it('take their renames along when the directory lies elsewhere', () => {
    const [here, there] = ['/w', '/home/u/w'].map((root) =>
      recordAll(
        flood(`${root}/a`, 1000).map(({ path }, index) => ({
          op: 'rename',
          path: path ?? '',
          target: `${root}/b/${index}`,
        })),
      ),
    );
    expect(there?.overflow[0]?.digest).toBe(here?.overflow[0]?.digest);
  });

  it('get the counts that come at the end', () => {
    const result = recordAll(
      [...flood('/w/a', 1000), { path: '/x' }],
      '{"c":[[1,5],[1000,2],[1001,3]]}\n',
    );
    expect(result.damagedLines).toBe(0);
    expect(result.overflow).toMatchObject([{ count: 1005 }]);
    expect(result.events).toMatchObject([{ path: '/x', count: 3 }]);
  });

  it('are folded into an ancestor when each lies in a directory of its own', () => {
    const result = recordAll(
      Array.from({ length: 3000 }, (_, index) => ({ path: `/w/cache/${index}/v/x` })),
    );
    expect(countAll(result)).toBe(3000);
    expect(result.overflow).toMatchObject([{ directory: '/w/cache' }]);
  });

  it('are folded across programs when each has one of its own', () => {
    const result = recordAll(
      Array.from({ length: 3000 }, (_, index) => ({ path: `/w/${index}`, program: index + 1 })),
    );
    expect(countAll(result)).toBe(3000);
    expect(result.overflow).toMatchObject([{ directory: '/', program: 1 }]);
  });

  it('are folded by host when they are connections', () => {
    const result = recordAll(
      Array.from({ length: 3000 }, (_, port) => ({
        op: 'connect',
        path: `tcp:10.0.0.1:${port}`,
        errno: 111,
      })),
    );
    expect(result.overflow).toMatchObject([{ op: 'connect', directory: 'tcp:10.0.0.1' }]);
  });

  it('take little memory when their names are long', () => {
    const long = `/${'d'.repeat(250)}`.repeat(15);
    const recorder = newRecorder();
    for (let id = 1; id <= 12_000; id++) recorder.feed(eventLine({ id, path: `${long}/${id}` }));
    const result = recorder.finish();
    expect(countAll(result)).toBe(12_000);
    expect(result.overflow.length).toBe(1);
  });

  it('are programs, too', () => {
    const recorder = newRecorder();
    const count = 17_000;
    for (let id = 1; id <= count; id++) recorder.feed(programLine(id, id - 1, `/bin/${id}`));
    recorder.feed(`{"n":[[${count},2]]}\n`);
    const { programs, overflow, damagedLines } = recorder.finish();
    expect(programs.length).toBeLessThan(count);
    expect(programs.length + (overflow[0]?.count ?? 0)).toBe(count);
    expect(overflow).toMatchObject([{ op: 'exec', directory: '/' }]);
    expect(damagedLines).toBe(0);
  });

  it('never change a count of what is still told one by one', () => {
    const name = fc
      .constantFrom('/a', '/b/c', '/b/d/e', '/x/y/z')
      .chain((directory) => fc.nat(120).map((index) => `${directory}/${index}`));
    const event = fc.record({
      path: name,
      op: fc.constantFrom('create', 'read'),
      program: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 300, maxLength: 900, size: 'max' }), (all) => {
        const expected = new Map<string, number>();
        for (const { op, program, path } of all) {
          const key = `${op} ${program} ${path}`;
          expected.set(key, (expected.get(key) ?? 0) + 1);
        }
        const result = recordAll(all);
        expect(countAll(result)).toBe(all.length);
        for (const told of result.events) {
          if (told.kind !== 'file') continue;
          const key = `${told.op} ${told.program} ${told.path}`;
          expect(told.count).toBe(expected.get(key));
        }
        if (expected.size < MAX_EVENTS) expect(result.overflow).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
