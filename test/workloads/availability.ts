import { findMissingTool } from '../differential/run.ts';
import type { Workload } from './workload.ts';

/** Why a workload cannot run here; nothing when it can. */
export function findObstacle(
  workload: Workload,
  tools: readonly string[] = [],
): string | undefined {
  const missing = findMissingTool([...workload.tools, ...tools]);
  return missing === undefined ? workload.install?.() : `${missing} is not installed`;
}
