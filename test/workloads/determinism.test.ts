import { describe, expect, it } from 'vitest';

import { findObstacle } from './availability.ts';
import { CIRCUMSTANCES, type Circumstances, describeCircumstances, Load } from './circumstances.ts';
import { Clock } from './clock.ts';
import { Copy, ORDINARY, OTHER_ORDINARY } from './copy.ts';
import {
  listBundleDifferences,
  listEvidenceDifferences,
  type RecordedRun,
  runRecorded,
} from './evidence.ts';
import { IS_FULL, type Workload } from './workload.ts';
import { NAMED } from './workloads/index.ts';

const RUNS = IS_FULL ? CIRCUMSTANCES : CIRCUMSTANCES.slice(0, 3);
const TIMEOUT_MS = IS_FULL ? 600_000 : 240_000;

describe('Equal runs have an equal run id and an equal run root', () => {
  it.for(NAMED)('of %s', { timeout: TIMEOUT_MS }, async ([, workload], context) => {
    const obstacle = findObstacle(workload, Clock.tools);
    if (obstacle !== undefined) context.skip(obstacle);
    const first = await runUnder({}, workload);
    const unequal: string[] = [];
    for (const circumstances of RUNS.slice(1)) {
      const other = await runUnder(circumstances, workload);
      const where = describeCircumstances(circumstances);
      if (other.runId !== first.runId) {
        unequal.push(`${where}: ${other.runId}, not ${first.runId}`);
        unequal.push(...listEvidenceDifferences(first.evidence, other.evidence));
      } else if (other.bundle.manifest.run_root !== first.bundle.manifest.run_root) {
        unequal.push(`${where}: another run root`);
        unequal.push(...listBundleDifferences(first.bundle, other.bundle));
      }
    }
    expect(unequal, unequal.join('\n')).toEqual([]);
  });

  it('also as another user', (context) => {
    if (OTHER_ORDINARY === undefined) context.skip('only root can become two other users');
  });
});

async function runUnder(circumstances: Circumstances, workload: Workload): Promise<RecordedRun> {
  const { isElsewhere, isOtherUser, days = 0 } = circumstances;
  using _ = new Load(circumstances.isBusy === true ? 2 : 0);
  using copy = new Copy({
    workload,
    person: (isOtherUser === true ? OTHER_ORDINARY : undefined) ?? ORDINARY,
    under: isElsewhere === true ? 'some/where/further-down/checkout' : 'work',
  });
  const clock = new Clock(copy.work, workload.hasOwnClock === true ? 0 : days);
  return await runRecorded({ copy, workload, clock });
}
