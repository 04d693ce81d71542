import type { LaunchPlan } from '../plan/plan.ts';

export type InsideView = Pick<
  LaunchPlan,
  'scopedDir' | 'privateTmp' | 'sharedInTmp' | 'namespaces' | 'mounts'
>;

function isBelow(path: string, dir: string): boolean {
  return path === dir || path.startsWith(`${dir}/`);
}

/**
 * Where a path that was seen inside lies on the host, while the run's private tmp is still there. Null for what exists
 * inside only, and is gone with it.
 */
export function toHostPath(path: string, view: InsideView): string | null {
  if (!view.namespaces.includes('mount')) return path;
  if (view.sharedInTmp.some((shared) => isBelow(path, shared))) return path;
  const tmp = view.privateTmp.find((dir) => isBelow(path, dir));
  const host = tmp === undefined ? path : `${view.scopedDir}${path.slice(tmp.length)}`;
  const isInsideOnly = view.mounts.some(
    (op) => (op.kind === 'tmpfs' || op.kind === 'proc') && isBelow(path, mountPoint(op)),
  );
  return isInsideOnly ? null : host;
}

function mountPoint(op: LaunchPlan['mounts'][number]): string {
  return 'path' in op ? op.path : '/proc';
}
