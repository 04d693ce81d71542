import type { ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { spawnWithDoors } from './door-channel.ts';
import { DoorKeeper, expectDoors } from './door-keeper.ts';
import type { SpawnedHelper, SpawnRequest } from './spawn-helper.ts';

/** A helper that makes doors, and who owns them. */
export interface DoorRun {
  readonly helper: SpawnedHelper;
  readonly keeper: { readonly problems: readonly string[]; close(): Promise<void> };
}

export async function startWithDoors(options: {
  readonly request: SpawnRequest;
  readonly plan: LaunchPlan;
  readonly load: (() => Promise<ServeDoors>) | undefined;
}): Promise<DoorRun> {
  const { request, plan, load } = options;
  if (plan.flags.isBrokered) {
    const { startBrokered } = await import('./brokered-run.ts');
    return startBrokered({ request, load });
  }
  const keeper = new DoorKeeper({ expected: expectDoors(plan), load });
  const helper = spawnWithDoors(request, (name, handle) => keeper.take(name, handle));
  return { helper, keeper };
}
