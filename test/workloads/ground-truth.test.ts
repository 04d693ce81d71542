import { describe, expect, it } from 'vitest';

import { findObstacle } from './availability.ts';
import { compareChanges, comparePrograms, compareStarts } from './compare.ts';
import { Copy, ORDINARY, SELF } from './copy.ts';
import { runRecorded } from './evidence.ts';
import { listRefused } from './round-trip.ts';
import { compareTrees, scanTree } from './scan.ts';
import { runTraced } from './strace.ts';
import { NAMED } from './workloads/index.ts';

const TIMEOUT_MS = 180_000;

const NAME = 'in %s, and suggests a policy under which it passes again';

describe('The record tells what really happened', () => {
  it.for(NAMED)(NAME, { timeout: TIMEOUT_MS }, async ([, workload], context) => {
    const obstacle = findObstacle(workload, ['strace']);
    if (obstacle !== undefined) context.skip(obstacle);
    using tracedCopy = new Copy({ workload });
    const traced = await runTraced({ copy: tracedCopy, workload });
    expect(traced.outcome.code, traced.outcome.stderr).toBe(workload.exitCode ?? 0);
    expect(traced.vanished).toEqual([]);
    for (const level of ['all', 'effects'] as const) {
      const person = level === 'all' ? ORDINARY : SELF;
      using copy = new Copy({ workload, person });
      const before = scanTree(copy.work);
      const { outcome, evidence, policyFile } = await runRecorded({ copy, workload }, level);
      const changes = compareTrees(before, scanTree(copy.work));
      expect(outcome.code, outcome.stderr).toBe(workload.exitCode ?? 0);
      expect(compareChanges(changes, evidence), level).toEqual([]);
      expect(comparePrograms(traced.programs, evidence, tracedCopy), level).toEqual([]);
      if (workload.hasLooseStarts !== true)
        expect(compareStarts(traced.programs, evidence, tracedCopy), level).toEqual([]);
      expect(await listRefused({ workload, policyFile, person }), level).toEqual([]);
    }
  });
});
