import type { SweepReport } from '../backend.ts';
import { isOwnerGone } from '../owner.ts';
import { SandboxError } from '../sandbox-error.ts';
import { sweepDirectories } from '../steward/run-directory.ts';
import { LABEL, OWNER_LABEL } from './container-options.ts';
import { type Engine, messageOf, statusOf } from './engine.ts';
import { sweepMapped } from './mapped-directory.ts';

/** Removes containers and directories of processes that are gone. */
export async function sweepEngine(
  backend: string,
  findEngine: () => Promise<Engine>,
): Promise<SweepReport> {
  const mapped = await sweepMapped();
  const directories = await sweepDirectories();
  const removed = [...directories.removed, ...mapped.removed];
  const problems = [...directories.problems, ...mapped.problems];
  try {
    const { docker } = await findEngine();
    const filters = { label: [`${LABEL}=${backend}`] };
    for (const { Id, Labels } of await docker.listContainers({ all: true, filters })) {
      if (!isOwnerGone(Labels[OWNER_LABEL] ?? '')) continue;
      try {
        await docker.getContainer(Id).remove({ force: true, v: true });
        removed.push(`container ${Id.slice(0, 12)}`);
      } catch (error) {
        // Somebody else was quicker.
        if (statusOf(error) !== 404 && statusOf(error) !== 409)
          problems.push(`container ${Id.slice(0, 12)}: ${messageOf(error)}`);
      }
    }
  } catch (error) {
    // Without an engine there are no containers of it.
    if (!SandboxError.is(error) || error.code !== 'backend_unavailable')
      problems.push(messageOf(error));
  }
  return { removed, problems };
}
