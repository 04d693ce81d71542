import type { ServeDoors } from '../../egress/doors.ts';
import type { RunDoors } from '../../egress/run-doors.ts';
import type { DoorKeeper } from '../../launch/door-keeper.ts';
import type { Denial } from '../sandbox.ts';
import type { PlannedCall } from './boundary.ts';
import type { CallRecord } from './call-record.ts';
import type { DoorChannel } from './door-channel.ts';

/** The doors of a sandbox with a network: each call has its own, and its own network that they stand in. */
export class SandboxDoors {
  readonly #channel: DoorChannel;

  constructor(channel: DoorChannel) {
    this.#channel = channel;
  }

  /** Before the call with this number starts. */
  open(call: number, planned: PlannedCall, record: CallRecord): CallDoors {
    const doors = new CallDoors(this.#channel, call);
    doors.keeper = this.#channel.expect(
      call,
      planned.plan,
      async () => await doors.load(planned, record),
    );
    return doors;
  }

  close(): void {
    this.#channel.close();
  }
}

export class CallDoors {
  readonly #channel: DoorChannel;
  readonly #call: number;
  #doors: RunDoors | undefined;
  keeper: DoorKeeper | undefined;

  constructor(channel: DoorChannel, call: number) {
    this.#channel = channel;
    this.#call = call;
  }

  async load({ policy }: PlannedCall, record: CallRecord): Promise<ServeDoors> {
    const { openRunDoors } = await import('../../egress/run-doors.ts');
    this.#doors = await openRunDoors({
      policy,
      openLog: async (names) => await record.openEgress(names),
    });
    return this.#doors.serve;
  }

  /** What went wrong in serving them. */
  async close(): Promise<readonly string[]> {
    await this.#channel.end(this.#call);
    return this.keeper?.problems ?? [];
  }

  denials(): Denial[] {
    return (this.#doors?.listRefusals() ?? []).map(({ place, verdict }) => ({
      action: 'net.connect',
      target: place,
      ...(verdict.rule !== null && { rule: verdict.rule }),
      hint: verdict.reason ?? `Nothing allows ${place}`,
    }));
  }
}
