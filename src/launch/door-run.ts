import type { ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { spawnWithDoors } from './door-channel.ts';
import { DoorKeeper, expectDoors } from './door-keeper.ts';
import type { SpawnedHelper, SpawnRequest } from './spawn-helper.ts';

/** A helper that makes doors, and who owns them. */
export interface DoorRun {
  readonly helper: SpawnedHelper;
  readonly keeper: DoorKeeper;
}

export function startWithDoors(options: {
  readonly request: SpawnRequest;
  readonly plan: LaunchPlan;
  readonly load: (() => Promise<ServeDoors>) | undefined;
}): DoorRun {
  const { request, plan, load } = options;
  const keeper = new DoorKeeper({ expected: expectDoors(plan), load });
  const helper = spawnWithDoors(request, (name, handle) => keeper.take(name, handle));
  return { helper, keeper };
}
