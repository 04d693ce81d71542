import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stewardPath } from '../../launch/helper-path.ts';
import type { SweepReport } from '../backend.ts';
import { isOwnerGone, nameOwner } from '../owner.ts';
import { SandboxError } from '../sandbox-error.ts';
import { messageOf } from './engine.ts';
import type { WorkspacePlan } from './workspace.ts';

const run = promisify(execFile);
const PREFIX = 'assay-mapped-';

type Bound = WorkspacePlan['bound'];

/**
 * Calls `start` with the directory to bind: where it has to be mapped, one in which what is root's outside is the
 * sandbox's inside. It is there for as long as the engine needs to find it, and is never removed with what is in it.
 */
export async function withMapped<T>(
  { bound, mapped, user }: WorkspacePlan,
  start: (bound: Bound) => Promise<T>,
): Promise<T> {
  if (!bound || !mapped) return await start(bound);
  const name = nameOwner().replaceAll(':', '.');
  const place = mkdtempSync(join(tmpdir(), `${PREFIX}${name}-`));
  const steward = stewardPath();
  try {
    const maps = [`${mapped.uid} ${user.uid} 1`, `${mapped.gid} ${user.gid} 1`];
    try {
      await run(steward, ['map', bound.host, place, ...maps]);
    } catch (cause) {
      throw makeUnmappable(bound.host, cause);
    }
    try {
      return await start({ ...bound, host: place });
    } finally {
      await run(steward, ['unmap', place]);
    }
  } finally {
    rmdirSync(place); // only where nothing is in it
  }
}

function makeUnmappable(host: string, cause: unknown): SandboxError {
  const { stderr } = cause as { readonly stderr?: string };
  const reason = `${host} is root's and cannot be mapped: ${stderr?.trim() || messageOf(cause)}`;
  return new SandboxError('policy_unenforceable', `Cannot give programs a workspace: ${reason}`, {
    unmet: [{ item: 'workspace.mode', reason }],
    hint: 'Give it to a user that is not root, or work on a copy',
    cause,
  });
}

/** What processes that are gone have left in the middle of it. Never what is in a directory. */
export async function sweepMapped(): Promise<SweepReport> {
  const left = readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => {
      const owner = name.slice(PREFIX.length, name.lastIndexOf('-'));
      return isOwnerGone(owner.replaceAll('.', ':'));
    })
    .map((name) => join(tmpdir(), name));
  const report = { removed: [] as string[], problems: [] as string[] };
  for (const place of left) {
    // Not mounted any more, most often.
    await run(stewardPath(), ['unmap', place]).catch(() => undefined);
    try {
      rmdirSync(place);
      report.removed.push(place);
    } catch (error) {
      // Unless somebody else was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        report.problems.push(`${place}: ${messageOf(error)}`);
    }
  }
  return report;
}
