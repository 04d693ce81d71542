import type { TestProject } from 'vitest/node';

import { findDockerdProblem, startDockerd } from '../../scripts/engines/dockerd.mjs';

/** One daemon for all files of a run, which ends with it. Where there can be none, its tests are not run, and say why. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const refuse = (problem: string): undefined => {
    project.provide('dockerSocket', '');
    project.provide('dockerProblem', problem);
    return undefined;
  };
  const problem = findDockerdProblem();
  if (problem !== undefined) return refuse(problem);
  const dockerd = await startDockerd().catch((error: Error) => error);
  if (dockerd instanceof Error) return refuse(dockerd.message);
  // For programs that the tests start, which find their engine as those of users do.
  process.env['DOCKER_HOST'] = dockerd.host;
  project.provide('dockerSocket', dockerd.socket);
  project.provide('dockerProblem', '');
  return async () => {
    delete process.env['DOCKER_HOST'];
    await dockerd.stop();
  };
}
