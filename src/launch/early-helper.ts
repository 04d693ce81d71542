import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { NAMESPACES, type HostFacts } from '../host/facts.ts';
import type { LayerChoice } from '../plan/layers.ts';
import type { PipeHandle } from './door-channel.ts';
import { helperPath } from './helper-path.ts';
import { type SpawnedHelper, spawnDirectly } from './spawn-helper.ts';

/** The file by which the plan goes in and the report comes out. It has a name only for a moment. */
export function openPlanFile(scratch: string): number {
  const name = `${scratch}/.plan`;
  const fd = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  return fd;
}

/** The handle below node's own modules. Not documented, so every step of using it may fail. */
function makeChannel(): PipeHandle | undefined {
  try {
    const { binding } = process as unknown as { binding: (name: string) => never };
    const { Pipe, constants } = binding.call(process, 'pipe_wrap') as {
      Pipe: new (kind: number) => PipeHandle;
      constants: { IPC: number };
    };
    return new Pipe(constants.IPC);
  } catch {
    return undefined; // taken out of this version of node
  }
}

/** Whether a run is likely to have every namespace. If it has not, they are made again, and nothing is won. */
export function wantsEveryNamespace(host: HostFacts, { left }: LayerChoice): boolean {
  return NAMESPACES.every((name) => host.namespaces[name].isAvailable && left.has(name));
}

const EVERY_NAMESPACE = (1 << NAMESPACES.length) - 1;

/** A helper that makes the namespaces of the run while the plan is made, and then waits for it. */
export class EarlyHelper implements SpawnedHelper {
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Resolves when the helper has said that the run has ended; or when it has ended itself. */
  readonly told: Promise<NodeJS.Signals | null>;
  /** Of the plan's file, which is empty so far. */
  readonly fd: number;
  readonly channel: PipeHandle;
  readonly #helper: SpawnedHelper;
  #isTold = false;
  #isReleased = false;
  #isClosed = false;

  private constructor(helper: SpawnedHelper, fd: number, channel: PipeHandle) {
    this.#helper = helper;
    this.fd = fd;
    this.channel = channel;
    this.ended = helper.ended.finally(() => channel.close());
    this.told = new Promise((resolve, reject) => {
      channel.onread = (bytes) => {
        if (bytes === undefined) return; // the channel's end: how the helper ended says more
        this.#isTold = true;
        resolve(null);
      };
      this.ended.then((signal) => {
        if (!this.#isTold) resolve(signal);
      }, reject);
    });
  }

  /** Undefined where this version of node has no way to. */
  static start(scratch: string): EarlyHelper | undefined {
    const channel = makeChannel();
    if (!channel) return undefined;
    const fd = openPlanFile(scratch);
    const args = ['wait', String(EVERY_NAMESPACE)];
    const helper = spawnDirectly({ file: helperPath(), fd, channel, args });
    if (helper) return new EarlyHelper(helper, fd, channel);
    channel.close();
    closeSync(fd);
    return undefined;
  }

  kill(signal: NodeJS.Signals): void {
    this.#helper.kill(signal);
  }

  /** The plan is written. */
  release(): void {
    this.#isReleased = true;
    this.channel.readStart();
    writeSync(this.channel.fd, 'G');
  }

  /** There will be no plan for it, unless it has got one. Resolves when it has ended. */
  async dismiss(): Promise<void> {
    if (this.#isReleased) return;
    this.channel.close(); // which it takes for our end
    await this.ended;
  }

  closeFile(): void {
    if (!this.#isClosed) closeSync(this.fd);
    this.#isClosed = true;
  }
}
