import { spawnSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { listDifferences } from './difference.ts';
import { findMissingTool, runWorkload } from './run.ts';
import type { Runner, Workload } from './workload.ts';
import { Workspace } from './workspace.ts';

const ORDINARY: Runner = { name: 'user', uid: 54_321, gid: 54_321 };
const TEST_TIMEOUT_MS = 150_000;

/** With ASSAY_DIFFERENTIAL=control both runs are bare: what differs then is the workload's own doing. */
const SECOND_PLACE = process.env['ASSAY_DIFFERENTIAL'] === 'control' ? 'bare' : 'inside';

/** Declares, for each workload and runner: it does, prints and leaves behind the same inside as outside. */
export function declareWorkloads(title: string, workloads: readonly Workload[]): void {
  describe(title, () => {
    const isReachable = canReachProject();
    for (const runner of listRunners()) {
      for (const workload of workloads) {
        it(
          `${workload.name} as ${runner.name}: the same inside as outside`,
          // Dialogues on a terminal have pauses, which a busy machine can make too short.
          { timeout: TEST_TIMEOUT_MS },
          async (context) => {
            if (runner === ORDINARY && !isReachable)
              context.skip('the project lies where an ordinary user cannot read');
            const missing = findMissingTool(workload.tools ?? []);
            if (missing !== undefined) context.skip(`${missing} is not installed`);
            await compare(workload, runner);
          },
        );
      }
    }
  });
}

async function compare(workload: Workload, runner: Runner): Promise<void> {
  const workspace = new Workspace(runner);
  try {
    const options = { workload, workspace, runner };
    const outside = await runWorkload({ ...options, place: 'bare' });
    const inside = await runWorkload({ ...options, place: SECOND_PLACE });
    // A workload that breaks off early compares little; each says when it has come to its end.
    expect(outside.stdout, outside.stderr.join('\n')).toContain('done');
    expect(listDifferences(outside, inside)).toEqual([]);
  } finally {
    workspace.close();
  }
}

/** Root runs as root and as an ordinary user; anybody else only as who they are. */
function listRunners(): Runner[] {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return [{ name: 'user', uid, gid: process.getgid?.() ?? uid }];
  return [{ name: 'root', uid: 0, gid: 0 }, ORDINARY];
}

function canReachProject(): boolean {
  const { status } = spawnSync(process.execPath, ['-e', '0', import.meta.filename], {
    uid: ORDINARY.uid,
    gid: ORDINARY.gid,
    cwd: import.meta.dirname,
  });
  return status === 0;
}
