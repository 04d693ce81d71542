import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { findObstacle } from './availability.ts';
import { Copy } from './copy.ts';
import { runRecorded } from './evidence.ts';
import { runInside } from './run.ts';
import { NAMED } from './workloads/index.ts';

const TIMEOUT_MS = 120_000;

describe('A suggested policy', () => {
  it.for(NAMED)(
    'lets %s pass again, with nothing refused',
    { timeout: TIMEOUT_MS },
    async ([, workload], context) => {
      const obstacle = findObstacle(workload);
      if (obstacle !== undefined) context.skip(obstacle);
      using first = new Copy({ workload });
      const recorded = await runRecorded({ copy: first, workload });
      using second = new Copy({ workload });
      const summaryFile = join(second.out, 'summary.json');
      const strict = ['--policy', recorded.policyFile, '--enforce', '--fail-closed'];
      const outcome = await runInside({ copy: second, workload }, [
        ...strict,
        '--json',
        summaryFile,
      ]);
      // What happens comes first, line by line.
      const lines = readFileSync(summaryFile, 'utf8').trim().split('\n');
      const { refusals } = JSON.parse(lines.at(-1) ?? '') as Summary;
      expect(refusals.map(({ op, path }) => `${op} ${path}`)).toEqual([]);
      expect(recorded.outcome.code, recorded.outcome.stderr).toBe(workload.exitCode ?? 0);
      expect(outcome.code, outcome.stderr).toBe(workload.exitCode ?? 0);
    },
  );
});

interface Summary {
  readonly refusals: readonly { op: string; path: string }[];
}
