import type { ChildProcess } from 'node:child_process';
import type { ServeDoors } from '../../egress/doors.ts';
import { hearDoors } from '../../launch/door-channel.ts';
import { DoorKeeper, expectDoors } from '../../launch/door-keeper.ts';
import type { Plan } from '../../plan/make-plan.ts';

/** The channel by which the doors of all sandboxes come, each with the numbers of its sandbox and its call. */
export class DoorChannel {
  readonly #keepers = new Map<string, DoorKeeper>();
  #sandboxes = 0;

  constructor(child: ChildProcess) {
    hearDoors(child, ({ door = '', sandbox = 0, call = 0 }, handle) => {
      const keeper = this.#keepers.get(toKey(sandbox, call));
      if (keeper) keeper.take(door, handle);
      else (handle as { close?: () => void }).close?.(); // of a call that is over
    });
  }

  /** The number of one more sandbox. */
  number(): number {
    this.#sandboxes += 1;
    return this.#sandboxes;
  }

  /** Before the call is started. Returns who takes its doors, and what ends that. */
  expect(
    sandbox: number,
    call: number,
    { plan, load }: { readonly plan: Plan; readonly load: () => Promise<ServeDoors> },
  ): { readonly keeper: DoorKeeper; readonly end: () => Promise<void> } {
    const key = toKey(sandbox, call);
    const launch = { ...plan.launch, banner: '', cgroups: [] };
    const keeper = new DoorKeeper({ expected: expectDoors(launch), load });
    this.#keepers.set(key, keeper);
    const end = async (): Promise<void> => {
      this.#keepers.delete(key);
      await keeper.close();
    };
    return { keeper, end };
  }
}

function toKey(sandbox: number, call: number): string {
  return `${sandbox} ${call}`;
}
