import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Difference } from '../../../src/evidence/diff/difference.ts';
import {
  change,
  compareDrafts,
  coverage,
  degraded,
  environment,
  type EventDraft,
  file,
  folded,
  layers,
  limit,
  network,
  policy,
  program,
  started,
} from './make-sides.ts';

/** Few names, so that the two sides often share some; some of them odd. */
const name = fc.constantFrom(
  'a',
  'b',
  '${CWD}/a',
  '/etc/x',
  'a b',
  'a\0b',
  '1 a',
  '',
  '\u202e',
  '{"',
);
const outcome = fc.constantFrom('ok', 'ENOENT', '*', 'unknown');
const more = fc.record(
  { outcome, program: name, target: name, digest: name, refused_by: name },
  { requiredKeys: [] },
);
const status = fc.constantFrom('complete', 'partial', 'absent');

const event: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.tuple(fc.constantFrom('read', 'write', 'exec', 'rename'), name, more).map((of) => file(...of)),
  fc.tuple(name, more).map((of) => program(...of)),
  fc.tuple(fc.constantFrom('connect', 'bind'), name, more).map((of) => network(...of)),
  fc.tuple(fc.constantFrom('read', 'write'), name, name).map((of) => folded(...of)),
  fc.tuple(fc.constantFrom('created', 'removed'), name).map((of) => change(...of)),
  fc.tuple(name, name).map((of) => degraded(...of)),
  fc.tuple(fc.array(name), fc.array(name)).map((of) => environment(...of)),
  fc.dictionary(name, status).map((surfaces) => coverage(surfaces, 'why')),
  fc.dictionary(name, status).map((of) => layers(of)),
  fc.tuple(fc.record({ fs: fc.array(name), n: fc.integer() }), name).map((of) => policy(...of)),
  fc.array(name).map((command) => started({ command })),
  name.map((of) => limit(of)),
  fc.tuple(name, fc.jsonValue()).map(([type, data]) => ({ type, data })),
);
const events = fc.array(event, { maxLength: 12 });

const MIRRORED = { new: 'gone', gone: 'new', changed: 'changed' } as const;

function mirror({ group, subject, change: how, before, after, same }: Difference): Difference {
  return { group, subject, change: MIRRORED[how], before: after, after: before, same };
}

function strip({ group, subject, change: how, before, after, same }: Difference): Difference {
  return { group, subject, change: how, before, after, same };
}

describe('compareBundles()', () => {
  it('says of b and a the mirror image of what it says of a and b', () => {
    fc.assert(
      fc.property(events, events, (a, b) => {
        const there = compareDrafts(a, b).differences;
        const back = compareDrafts(b, a).differences;
        expect(there.map(mirror)).toEqual(back.map(strip));
      }),
      { numRuns: 500 },
    );
  });

  it('finds nothing between a bundle and itself, in whatever order', () => {
    fc.assert(
      fc.property(events, (a) => {
        // What is said once counts as it was said last.
        expect(compareDrafts(a, a).differences).toEqual([]);
      }),
    );
  });

  it('finds a difference whenever the lines of two runs differ', () => {
    const line = fc.tuple(fc.constantFrom('read', 'write', 'exec'), name, more);
    const keyOf = (of: readonly EventDraft[]): string =>
      JSON.stringify([...new Set(of.map(({ data }) => sortedJson(data as object)))].sort());
    const lines = fc.array(
      line.map((of) => file(...of)),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        expect(compareDrafts(a, b).differences.length > 0).toBe(keyOf(a) !== keyOf(b));
      }),
      { numRuns: 500 },
    );
  });
});

function sortedJson(value: object): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
