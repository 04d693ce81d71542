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
  /** Becomes descriptor 4. */
  readonly channel?: object | undefined;
  readonly args?: readonly string[] | undefined;
}

/** What node's own child_process stands on. Not documented, so every step of using it may fail. */
interface ProcessHandle {
  onexit: (status: number, signal: string) => void;
  spawn(options: object): number;
  kill(signal: number): number;
  close(): void;
}

/**
 * Loading child_process takes as long as all of the planning, for streams that are not used here. Where node lets us
 * have the handle below it, that is used; where not, child_process is.
 */
export function spawnHelper(request: SpawnRequest): SpawnedHelper {
  return spawnDirectly(request) ?? spawnAsDocumented(request);
}

function findHandle(): (new () => ProcessHandle) | undefined {
  try {
    const { binding } = process as unknown as {
      binding?: (name: string) => { Process?: new () => ProcessHandle };
    };
    return binding?.call(process, 'process_wrap').Process;
  } catch {
    return undefined; // taken out of this version of node
  }
}

export function spawnDirectly({
  file,
  fd,
  channel,
  args = [],
}: SpawnRequest): SpawnedHelper | undefined {
  const Handle = findHandle();
  if (typeof Handle !== 'function') return undefined;
  const handle = new Handle();
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    handle.onexit = (_, signal) => {
      handle.close();
      resolve(signal === '' ? null : (signal as NodeJS.Signals));
    };
  });
  const stdio: object[] = [0, 1, 2, fd].map((number) => ({ type: 'fd', fd: number }));
  if (channel) stdio.push({ type: 'pipe', handle: channel });
  const error = handle.spawn({
    file,
    args: [file, ...args],
    cwd: '/',
    envPairs: [],
    stdio,
    detached: false,
  });
  if (error !== 0) return undefined; // child_process says what is wrong in words
  const kill = (signal: NodeJS.Signals): void => {
    const { constants } = process.getBuiltinModule('node:os');
    handle.kill(constants.signals[signal]);
  };
  return { ended, kill };
}

function spawnAsDocumented({ file, fd }: SpawnRequest): SpawnedHelper {
  const { spawn } = process.getBuiltinModule('node:child_process');
  return toSpawned(spawn(file, [], { stdio: [0, 1, 2, fd], env: {}, cwd: '/' }));
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
