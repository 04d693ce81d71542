import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Changes, findChanges } from '../../src/evidence/changes.ts';
import type { Event } from '../../src/observe/event.ts';
import { compareScans, FileModel, type Operation, reportOnce } from './file-model.ts';
import { watchProcessor } from '../processor-time.ts';

const NAMES = ['a', 'b', 'c'];
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => `/w/${names.join('/')}`);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    op: fc.constantFrom('create', 'write', 'unlink', 'mkdir', 'rmdir', 'open' as const),
    path,
  }) as fc.Arbitrary<Operation>,
  fc.record({
    op: fc.constantFrom('rename', 'rename', 'rename', 'link', 'exchange' as const),
    path,
    target: path,
  }) as fc.Arbitrary<Operation>,
);
const operations = fc.array(operation, { maxLength: 25 });
const FURNITURE: readonly Operation[] = [
  { op: 'mkdir', path: '/w/a' },
  { op: 'create', path: '/w/a/a' },
  { op: 'mkdir', path: '/w/a/b' },
  { op: 'create', path: '/w/a/b/c' },
  { op: 'create', path: '/w/b' },
];
const before = fc
  .tuple(fc.constantFrom([], FURNITURE), operations)
  .map(([some, more]) => [...some, ...more]);

function setUp(before: readonly Operation[]): FileModel {
  const model = new FileModel();
  model.perform({ op: 'mkdir', path: '/w' });
  // Names that were linked before the run cannot be known from what happens in it.
  for (const one of before) if (one.op !== 'link') model.perform(one);
  return model;
}

function change(
  model: FileModel,
  during: readonly Operation[],
  isOnce = true,
): { changes: Changes; real: ReturnType<typeof compareScans> } {
  const before = model.scan();
  model.start();
  for (const one of during) model.perform(one);
  const events: readonly Event[] = isOnce ? reportOnce(model.events) : model.events;
  const changes = findChanges({
    events,
    ...model.finish(events),
    privateTmp: ['/tmp'],
    variables: { cwd: '/w', home: '/home/ada', tmpdir: '/tmp/x', user: 'ada' },
  });
  return { changes, real: compareScans(before, model.scan()) };
}

/** Without what is said to be unsure and is not so. */
function pick(
  { created, removed, modified, unverified }: Changes,
  real: ReturnType<typeof compareScans>,
): object {
  const isSure = (path: string): boolean =>
    !unverified.includes(path) || real.modified.includes(path);
  return { created, removed, modified: modified.filter(isSure) };
}

describe('findChanges()', () => {
  it('shows what a scan before and after shows, whatever was done', () => {
    fc.assert(
      fc.property(before, operations, (there, during) => {
        const { changes, real } = change(setUp(there), during, false);
        expect(pick(changes, real)).toEqual(real);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows it also when each distinct operation is reported once', () => {
    fc.assert(
      fc.property(before, operations, (there, during) => {
        const { changes, real } = change(setUp(there), during);
        expect(pick(changes, real)).toEqual(real);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('findChanges() by example', () => {
  function setUpWith(...paths: readonly string[]): FileModel {
    return setUp(
      paths.map((one) =>
        one.endsWith('/') ? { op: 'mkdir', path: one.slice(0, -1) } : { op: 'create', path: one },
      ),
    );
  }

  function by(
    events: readonly Partial<Event>[],
    more: Partial<Parameters<typeof findChanges>[0]> = {},
  ): Changes {
    const base = { kind: 'file', outcome: 'ok', basis: 'performed', program: 1, count: 1 };
    return findChanges({
      events: events.map((event) => ({ ...base, ...event }) as Event),
      finalStates: new Map(),
      movedContents: new Map(),
      privateTmp: ['/tmp', '/var/tmp'],
      variables: { cwd: '/w', home: '/home/ada', tmpdir: '/tmp/x', user: 'ada' },
      ...more,
    });
  }

  it('does not call a file modified that was opened for writing and stayed as it was', () => {
    const { changes } = change(setUpWith('/w/a'), [{ op: 'open', path: '/w/a' }]);
    expect(changes.modified).toEqual([]);
    expect(changes.unverified).toEqual([]);
  });

  it('brings the contents of a moved directory along', () => {
    const { changes } = change(setUpWith('/w/a/', '/w/a/x', '/w/a/d/', '/w/a/d/y'), [
      { op: 'create', path: '/w/a/new' },
      { op: 'rename', path: '/w/a', target: '/w/b' },
    ]);
    expect(changes.created).toEqual(['/w/b/', '/w/b/d/', '/w/b/d/y', '/w/b/new', '/w/b/x']);
    expect(changes.removed).toEqual(['/w/a/', '/w/a/d/', '/w/a/d/y', '/w/a/x']);
  });

  it('finds what was removed from a directory after it was moved', () => {
    const { changes } = change(setUpWith('/w/a/', '/w/a/x'), [
      { op: 'rename', path: '/w/a', target: '/w/b' },
      { op: 'unlink', path: '/w/b/x' },
      { op: 'rmdir', path: '/w/b' },
    ]);
    expect(changes).toMatchObject({ created: [], removed: ['/w/a/', '/w/a/x'] });
  });

  it('calls an atomic save a modification, and leaves the staging file out', () => {
    const { changes } = change(setUpWith('/w/a'), [
      { op: 'create', path: '/w/b' },
      { op: 'rename', path: '/w/b', target: '/w/a' },
    ]);
    expect(changes).toMatchObject({ created: [], modified: ['/w/a'], removed: [] });
  });

  it('follows what is below two directories that are exchanged', () => {
    const { changes } = change(setUpWith('/w/a/', '/w/a/x', '/w/b/', '/w/b/z'), [
      { op: 'exchange', path: '/w/a', target: '/w/b' },
      { op: 'create', path: '/w/a/n' },
      { op: 'create', path: '/w/b/m' },
      { op: 'unlink', path: '/w/a/z' },
    ]);
    expect(changes).toMatchObject({
      created: ['/w/a/n', '/w/b/m', '/w/b/x'],
      modified: [],
      removed: ['/w/a/x', '/w/b/z'],
    });
  });

  it('finds nothing changed by an exchange that is undone', () => {
    const { changes } = change(setUpWith('/w/a', '/w/b/', '/w/b/x'), [
      { op: 'exchange', path: '/w/a', target: '/w/b' },
      { op: 'exchange', path: '/w/a', target: '/w/b' },
    ]);
    expect(changes).toMatchObject({ created: [], modified: [], removed: [] });
  });

  it('follows a directory however often it is moved there and back', () => {
    const there = { op: 'rename', path: '/w/a', target: '/w/b' } as const;
    const back = { op: 'rename', path: '/w/b', target: '/w/a' } as const;
    const moves = [there, back, there, back, there];
    const { changes } = change(setUpWith('/w/a/', '/w/a/x'), [
      ...moves,
      { op: 'create', path: '/w/b/q' },
    ]);
    expect(changes).toMatchObject({
      created: ['/w/b/', '/w/b/q', '/w/b/x'],
      removed: ['/w/a/', '/w/a/x'],
    });
  });

  it('finds nothing changed by a rename between two names that a file has had before', () => {
    const move = { op: 'rename', path: '/w/a', target: '/w/b', isReplacing: true } as const;
    expect(by([{ ...move, move: 'none' }])).toMatchObject({ created: [], modified: [] });
  });

  it('lists attributes apart, and only of what is not changed otherwise', () => {
    const model = setUpWith('/w/a', '/w/b', '/w/d/');
    const { changes } = change(model, [
      { op: 'chmod', path: '/w/a' },
      { op: 'chmod', path: '/w/d' },
      { op: 'chmod', path: '/w/b' },
      { op: 'write', path: '/w/b' },
      { op: 'create', path: '/w/c' },
      { op: 'chmod', path: '/w/c' },
    ]);
    expect(changes.attributes).toEqual(['/w/a', '/w/d/']);
    expect(changes.modified).toEqual(['/w/b']);
  });

  it('lists the private tmp apart, and a workspace inside it with the rest', () => {
    const changes = by(
      [
        { op: 'create', path: '/tmp/x' },
        { op: 'create', path: '/dev/shm/y' },
        { op: 'create', path: '/tmp/work/z' },
      ],
      { variables: { cwd: '/tmp/work', home: '/h', tmpdir: '/tmp/t', user: 'u' } },
    );
    expect(changes.created).toEqual(['/tmp/work/z']);
    expect(changes.temporary.created).toEqual(['/dev/shm/y', '/tmp/x']);
  });

  it('leaves devices and kernel state out', () => {
    const changes = by([
      { op: 'write', path: '/dev/null' },
      { op: 'write', path: '/proc/self/comm' },
    ]);
    expect(changes).toMatchObject({ modified: [], unverified: [] });
  });

  it('leaves attempts that failed out', () => {
    expect(by([{ op: 'create', path: '/w/x', outcome: 'EACCES' }]).created).toEqual([]);
  });

  it('says so when it could not look', () => {
    const changes = by([{ op: 'write', path: '/w/x' }]);
    expect(changes).toMatchObject({ modified: ['/w/x'], unverified: ['/w/x'] });
  });

  it('goes through 200,000 events without stopping at each', { timeout: 60_000 }, () => {
    const events = Array.from({ length: 200_000 }, (_, index) => ({
      op: 'create' as const,
      path: `/w/d${index % 100}/f${index}`,
    }));
    const spentMs = watchProcessor();
    expect(by(events).created).toHaveLength(200_000);
    expect(spentMs()).toBeLessThan(30_000);
  });
});
