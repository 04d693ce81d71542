import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { Copy, ORDINARY } from './copy.ts';
import { runInside } from './run.ts';
import type { Workload } from './workload.ts';

interface Summary {
  readonly refusals: readonly { op: string; path: string }[];
}

/** What a policy, strictly enforced, refuses to the workload, which has to end as it always does. */
export async function listRefused(workload: Workload, policyFile: string): Promise<string[]> {
  using copy = new Copy({ workload, person: ORDINARY });
  const summaryFile = join(copy.out, 'summary.json');
  const strict = ['--policy', policyFile, '--enforce', '--fail-closed'];
  const outcome = await runInside({ copy, workload }, [...strict, '--json', summaryFile]);
  expect(outcome.code, outcome.stderr).toBe(workload.exitCode ?? 0);
  // What happens comes first, line by line.
  const lines = readFileSync(summaryFile, 'utf8').trim().split('\n');
  const { refusals } = JSON.parse(lines.at(-1) ?? '') as Summary;
  return refusals.map(({ op, path }) => `${op} ${path}`);
}
