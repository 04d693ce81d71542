import type { ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { spawnWithDoors, type TakeDoor, takeDoorsFrom } from './door-channel.ts';
import { DoorKeeper, expectDoors } from './door-keeper.ts';
import type { EarlyHelper } from './early-helper.ts';
import type { SpawnedHelper, SpawnRequest } from './spawn-helper.ts';

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
  const take: TakeDoor = (name, handle) => keeper.take(name, handle);
  if (early && takeDoorsFrom(early.channel, take)) return { helper: early, keeper };
  await early?.dismiss();
  return { helper: spawnWithDoors(request, take), keeper };
}
