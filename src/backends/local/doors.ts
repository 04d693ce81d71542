import type { ServeDoors } from '../../egress/doors.ts';
import type { RunDoors } from '../../egress/run-doors.ts';
import type { Denial } from '../sandbox.ts';
import type { PlannedCall } from './boundary.ts';
import type { CallRecord } from './call-record.ts';
import type { DoorChannel } from './door-channel.ts';

/** The doors of a sandbox with a network: each call has its own, and its own network that they stand in. */
export class SandboxDoors {
  readonly #channel: DoorChannel;
  /** By which the helper tells them from those of other sandboxes. */
  readonly number: number;

  constructor(channel: DoorChannel) {
    this.#channel = channel;
    this.number = channel.number();
  }

  /** Before the call with this number starts. */
  open(call: number, planned: PlannedCall, record: CallRecord): CallDoors {
    return new CallDoors((load) =>
      this.#channel.expect(this.number, call, {
        plan: planned.plan,
        load: async () => await load(planned, record),
      }),
    );
  }
}

type Load = (planned: PlannedCall, record: CallRecord) => Promise<ServeDoors>;

export class CallDoors {
  readonly #expected: ReturnType<DoorChannel['expect']>;
  #doors: RunDoors | undefined;

  constructor(expect: (load: Load) => ReturnType<DoorChannel['expect']>) {
    this.#expected = expect(async (planned, record) => await this.load(planned, record));
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
    await this.#expected.end();
    return this.#expected.keeper.problems;
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
