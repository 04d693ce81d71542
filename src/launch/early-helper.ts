import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { NAMESPACES, type HostFacts } from '../host/facts.ts';
import type { LayerChoice } from '../plan/layers.ts';
import { helperPath } from './helper-path.ts';
import { spawnChild, type SpawnedHelper, toSpawned } from './spawn-helper.ts';

/** The file by which the plan goes in and the report comes out. It has a name only for a moment. */
export function openPlanFile(scratch: string): number {
  const name = `${scratch}/.plan`;
  const fd = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  return fd;
}

/** Whether a run is likely to have every namespace. If it has not, they are made again, and nothing is won. */
export function wantsEveryNamespace(host: HostFacts, { left }: LayerChoice): boolean {
  return NAMESPACES.every((name) => host.namespaces[name].isAvailable && left.has(name));
}

const EVERY_NAMESPACE = (1 << NAMESPACES.length) - 1;
/** The helper's message when the program has ended. */
const ENDED = 'E';

/** A helper that makes the namespaces of the run while the plan is made, and then waits for it. */
export class EarlyHelper implements SpawnedHelper {
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Resolves when the helper has said that the run has ended; or when it has ended itself. */
  readonly told: Promise<NodeJS.Signals | null>;
  /** Of the plan's file, which is empty so far. */
  readonly fd: number;
  readonly child: ChildProcess;
  #isReleased = false;
  #isClosed = false;

  constructor(scratch: string) {
    this.fd = openPlanFile(scratch);
    const args = ['wait', String(EVERY_NAMESPACE)];
    this.child = spawnChild({ file: helperPath(), fd: this.fd, channel: 'ipc', args });
    this.ended = toSpawned(this.child).ended;
    this.told = new Promise((resolve, reject) => {
      this.child.on('message', (message) => {
        if (message === ENDED) resolve(null);
      });
      this.ended.then(resolve, reject);
    });
    this.told.catch(() => undefined); // a plan that cannot be made is told first
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The plan is written. */
  release(): void {
    this.#isReleased = true;
    this.child.send('G', () => undefined); // a helper that has ended says so by its end
  }

  /** There will be no plan for it, unless it has got one. Resolves when it has ended. */
  async dismiss(): Promise<void> {
    if (this.#isReleased) return;
    if (this.child.connected) this.child.disconnect(); // the helper takes that for the end of assay
    await this.ended;
  }

  closeFile(): void {
    if (!this.#isClosed) closeSync(this.fd);
    this.#isClosed = true;
  }
}
