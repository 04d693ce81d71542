import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { removeCgroup, removeCgroupNow } from '../../launch/remove-cgroup.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { CgroupTree } from './limits.ts';
import type { Resident } from './resident.ts';

export const CGROUP_PREFIX = 'assay-local-';
const COUNTER_BYTES = 1024;

/** How often limits were reached, since the slot was made. */
export interface CgroupCounts {
  readonly killed: number;
  readonly refusedPids: number;
}

interface Counter {
  readonly fd: number;
  readonly key: RegExp;
  readonly counts: keyof CgroupCounts;
}

/**
 * Cgroups, and a process in them that forks sandboxes. They serve one sandbox after another, since moving a process into
 * a cgroup takes the kernel long; nothing of a sandbox is in them when it has ended.
 */
export class Slot {
  readonly number: number;
  readonly #socket: Socket;
  readonly #directories: string[] = [];
  readonly #counters: Counter[] = [];
  /** What was written last, by file. */
  readonly #settings = new Map<string, string>();
  readonly #bytes = Buffer.allocUnsafe(COUNTER_BYTES);
  #last: CgroupCounts = { killed: 0, refusedPids: 0 };
  isAlive = true;

  private constructor(number: number, socket: Socket) {
    this.number = number;
    this.#socket = socket;
    socket.on('error', () => undefined); // the close says it, too
    socket.once('close', () => {
      this.isAlive = false;
    });
    socket.unref();
  }

  static async make(
    resident: Resident,
    number: number,
    trees: readonly CgroupTree[],
  ): Promise<Slot> {
    const { socket, pid } = await resident.startForker(number);
    const slot = new Slot(number, socket);
    try {
      for (const tree of trees) slot.#join(tree, pid);
      return slot;
    } catch (cause) {
      await slot.close();
      const { message } = cause as Error;
      throw new SandboxError('start_failed', `Cannot set up a cgroup: ${message}`, { cause });
    }
  }

  #join({ directory, counters }: CgroupTree, pid: number): void {
    const path = join(directory, `${CGROUP_PREFIX}${process.pid}-${this.number}`);
    mkdirSync(path);
    this.#directories.push(path);
    writeFileSync(join(path, 'cgroup.procs'), String(pid));
    for (const { file, key, counts } of counters)
      this.#counters.push({
        fd: openSync(join(path, file), 'r'),
        key: new RegExp(`^${key} (\\d+)$`, 'm'),
        counts,
      });
  }

  /** For the next sandbox. Throws where what the last one left does not fit into them. */
  set(settings: readonly (readonly [directory: string, file: string, value: string])[]): void {
    for (const [directory, file, value] of settings) {
      const path = join(directory, `${CGROUP_PREFIX}${process.pid}-${this.number}`, file);
      if (this.#settings.get(path) === value) continue;
      writeFileSync(path, value);
      this.#settings.set(path, value);
    }
  }

  /** What was counted since it was asked for last. */
  takeCounts(): CgroupCounts {
    const now = { killed: 0, refusedPids: 0 };
    for (const { fd, key, counts } of this.#counters) {
      const length = readSync(fd, this.#bytes, 0, COUNTER_BYTES, 0);
      now[counts] += Number(key.exec(this.#bytes.toString('latin1', 0, length))?.[1] ?? 0);
    }
    const last = this.#last;
    this.#last = now;
    return {
      killed: now.killed - last.killed,
      refusedPids: now.refusedPids - last.refusedPids,
    };
  }

  async close(): Promise<void> {
    for (const { fd } of this.#counters.splice(0)) closeSync(fd);
    if (this.isAlive) {
      const closed = new Promise((resolve) => this.#socket.once('close', resolve));
      this.#socket.ref();
      this.#socket.end();
      await closed;
    }
    for (const path of this.#directories.splice(0)) await removeCgroup(path);
  }

  /** At the end of this process, when the forker has been told to go. */
  leave(): void {
    for (const path of this.#directories.splice(0)) removeCgroupNow(path);
  }
}
