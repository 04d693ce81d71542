import type { HostFacts } from '../../host/facts.ts';
import type { SandboxLimits } from '../spec.ts';
import { type CgroupTree, listCgroupSettings, listCgroupTrees } from './limits.ts';
import type { Resident } from './resident.ts';
import { Slot } from './slot.ts';

/** One stays for whoever comes next; others go when nobody has come for so long. */
const IDLE_MS = 1000;

/** The slots of one resident helper. On a host without cgroups there are none, and none are needed. */
export class Slots {
  readonly #resident: Resident;
  readonly #host: HostFacts;
  readonly #trees: readonly CgroupTree[];
  readonly #free: Slot[] = [];
  readonly #used = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(resident: Resident, host: HostFacts) {
    this.#resident = resident;
    this.#host = host;
    this.#trees = listCgroupTrees(host);
    process.on('exit', () => this.#leave());
  }

  /** This process ends: what forks for sandboxes that have ended has no use any more, and goes with its resident. */
  #leave(): void {
    if (this.#free.length > 0) this.#resident.close();
    for (const slot of this.#free.splice(0)) slot.leave();
  }

  async take(limits: SandboxLimits): Promise<Slot | undefined> {
    if (this.#trees.length === 0) return undefined;
    const settings = listCgroupSettings(limits, this.#host);
    for (let slot = this.#free.pop(); slot; slot = this.#free.pop()) {
      try {
        if (slot.isAlive) {
          slot.set(settings);
          slot.takeCounts();
          return slot;
        }
      } catch {
        // Something of the last sandbox is still counted there: another one then.
      }
      await this.#drop(slot);
    }
    const slot = await this.#make();
    try {
      slot.set(settings);
      return slot;
    } catch (error) {
      await this.#drop(slot);
      throw error;
    }
  }

  /** Everything of the sandbox has ended. */
  release(slot: Slot): void {
    this.#free.push(slot);
    if (this.#free.length <= 1 || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const idle of this.#free.splice(1)) void this.#drop(idle);
    }, IDLE_MS);
    this.#timer.unref();
  }

  async #make(): Promise<Slot> {
    let number = 1;
    while (this.#used.has(number)) number++;
    this.#used.add(number);
    try {
      return await Slot.make(this.#resident, number, this.#trees);
    } catch (error) {
      this.#used.delete(number);
      throw error;
    }
  }

  async #drop(slot: Slot): Promise<void> {
    await slot.close();
    this.#used.delete(slot.number);
  }
}
