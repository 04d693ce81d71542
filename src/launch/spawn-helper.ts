import type { ChildProcess } from 'node:child_process';
import { AssayError } from '../core/errors.ts';

/** A process that has been started; what of it is needed here. */
export interface SpawnedHelper {
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, with the signal that ended it; rejects when it could not be started. */
  readonly ended: Promise<NodeJS.Signals | null>;
}

export interface SpawnRequest {
  readonly file: string;
  /** Becomes descriptor 3; 0, 1 and 2 are passed on. */
  readonly fd: number;
  /** Becomes descriptor 4: bytes, or messages that may bring sockets. */
  readonly channel?: 'pipe' | 'ipc' | undefined;
  readonly args?: readonly string[] | undefined;
}

export function spawnChild({ file, fd, channel, args = [] }: SpawnRequest): ChildProcess {
  // Loaded by those that start something: help and version do not.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const stdio = [0, 1, 2, fd, ...(channel ? [channel] : [])];
  return spawn(file, args, { stdio, env: {}, cwd: '/' });
}

export function spawnHelper(request: SpawnRequest): SpawnedHelper {
  return toSpawned(spawnChild(request));
}

export function toSpawned(child: ChildProcess): SpawnedHelper {
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', (cause) =>
      reject(
        new AssayError('E_LAUNCH_FAILED', `Cannot start the helper: ${cause.message}`, { cause }),
      ),
    );
    child.once('exit', (_, signal) => resolve(signal));
  });
  return { ended, kill: (signal) => void child.kill(signal) };
}
