import type { ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { hearDoors } from './door-channel.ts';
import { DoorKeeper, expectDoors } from './door-keeper.ts';
import type { EarlyHelper } from './early-helper.ts';
import { spawnChild, type SpawnedHelper, type SpawnRequest, toSpawned } from './spawn-helper.ts';

/** A helper that makes doors, and who owns them. */
export interface DoorRun {
  readonly helper: SpawnedHelper;
  readonly keeper: { readonly problems: readonly string[]; close(): Promise<void> };
}

export async function startWithDoors(options: {
  readonly request: SpawnRequest;
  readonly plan: LaunchPlan;
  /** A helper that waits for the plan. */
  readonly early: EarlyHelper | undefined;
  readonly load: (() => Promise<ServeDoors>) | undefined;
}): Promise<DoorRun> {
  const { request, plan, early, load } = options;
  if (plan.flags.isBrokered) {
    await early?.dismiss();
    const { startBrokered } = await import('./brokered-run.ts');
    return startBrokered({ request, load });
  }
  const keeper = new DoorKeeper({ expected: expectDoors(plan), load });
  const child = early?.child ?? spawnChild({ ...request, channel: 'ipc' });
  hearDoors(child, ({ door = '' }, handle) => keeper.take(door, handle));
  return { helper: early ?? toSpawned(child), keeper };
}
