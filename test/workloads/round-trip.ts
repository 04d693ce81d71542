import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Person } from '../e2e/as-user.ts';
import { Copy } from './copy.ts';
import { runInside } from './run.ts';
import type { Workload } from './workload.ts';

interface Summary {
  readonly refusals: readonly { op: string; path: string }[];
}

interface RoundTrip {
  readonly workload: Workload;
  readonly policyFile: string;
  /** Who may read the policy. */
  readonly person: Person;
}

/** What a policy, strictly enforced, refuses to the workload, which has to end as it always does. */
export async function listRefused(trip: RoundTrip): Promise<string[]> {
  const { workload, policyFile, person } = trip;
  using copy = new Copy({ workload, person });
  const summaryFile = join(copy.out, 'summary.json');
  const strict = ['--policy', policyFile, '--enforce', '--fail-closed'];
  const outcome = await runInside({ copy, workload }, [...strict, '--json', summaryFile]);
  expect(outcome.code, outcome.stderr).toBe(workload.exitCode ?? 0);
  // What happens comes first, line by line.
  const lines = readFileSync(summaryFile, 'utf8').trim().split('\n');
  const { refusals } = JSON.parse(lines.at(-1) ?? '') as Summary;
  return refusals.map(({ op, path }) => `${op} ${path}`);
}
