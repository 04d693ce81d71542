import { describe, expect, it } from 'vitest';
import { type CoverageInput, stateCoverage } from '../../src/observe/coverage.ts';

const WHOLE: CoverageInput = {
  level: 'all',
  areOpensWatched: true,
  network: 'private',
  lost: 0,
  unread: 0,
  areSocketsReplaced: false,
  damagedLines: 0,
  overflow: [],
  isCutShort: false,
};

function statuses(input: Partial<CoverageInput>): Record<string, string> {
  const coverage = stateCoverage({ ...WHOLE, ...input });
  return Object.fromEntries(
    Object.entries(coverage).map(([surface, { status }]) => [surface, status]),
  );
}

const COMPLETE = {
  reads: 'complete',
  changes: 'complete',
  programs: 'complete',
  network: 'complete',
  environment: 'complete',
};

describe('stateCoverage()', () => {
  it('is complete when all is watched and nothing was lost', () => {
    expect(statuses({})).toEqual(COMPLETE);
  });

  it('has no reads at --observe effects', () => {
    expect(statuses({ level: 'effects' })).toEqual({ ...COMPLETE, reads: 'absent' });
  });

  it('has no reads when opens do not come to the broker', () => {
    expect(statuses({ areOpensWatched: false })).toEqual({ ...COMPLETE, reads: 'absent' });
  });

  it.each([{ level: 'none' as const }, { whyNoBroker: 'the kernel is too old' }])(
    'knows only the environment with %j',
    (input) => {
      expect(statuses(input)).toEqual({
        reads: 'absent',
        changes: 'absent',
        programs: 'absent',
        network: 'absent',
        environment: 'complete',
      });
    },
  );

  it('says why there is no broker, and that the command itself is known', () => {
    const { programs, changes } = stateCoverage({ ...WHOLE, whyNoBroker: 'the kernel is old' });
    expect(programs.reasons).toEqual([
      'there is no broker: the kernel is old; only the command that was started is known',
    ]);
    expect(changes.reasons).toEqual(['there is no broker: the kernel is old']);
  });

  it.each([
    ['host', 'partial'],
    ['private', 'complete'],
    ['none', 'complete'],
  ] as const)('states the network %s as %s, since datagrams need no connect', (network, status) => {
    expect(statuses({ network })).toEqual({ ...COMPLETE, network: status });
  });

  it.each([
    [{ lost: 1 }, '1 event could not be written down'],
    [{ damagedLines: 3 }, '3 lines of the record could not be read'],
    [{ isCutShort: true }, 'the record ends before the program did'],
  ])('is complete nowhere after %j', (input, reason) => {
    const { environment, ...watched } = stateCoverage({ ...WHOLE, ...input });
    for (const surface of Object.values(watched))
      expect(surface).toEqual({ status: 'partial', reasons: [reason] });
    expect(environment.status).toBe('complete');
  });

  it.each([
    ['read', 'reads'],
    ['create', 'changes'],
    ['exec', 'programs'],
    ['connect', 'network'],
  ])('is partial where too much happened to be told: %s', (op, surface) => {
    const fold = { op, directory: '/a', outcome: 'ok', program: 1, count: 7, digest: '', atMs: 0 };
    expect(statuses({ overflow: [fold] })).toEqual({ ...COMPLETE, [surface]: 'partial' });
  });

  it('counts what was folded', () => {
    const fold = { op: 'create', outcome: 'ok', program: 1, digest: '', atMs: 0 };
    const overflow = [
      { ...fold, directory: '/a', count: 7 },
      { ...fold, directory: '/a', count: 1, outcome: 'EEXIST' },
      { ...fold, directory: '/b', count: 2 },
    ];
    expect(stateCoverage({ ...WHOLE, overflow }).changes.reasons).toEqual([
      '10 events in 2 places are counted, and not told one by one',
    ]);
  });
});
