import type { ChildProcess } from 'node:child_process';

/** Comes with each door: which one it is, and whose, where several share the channel. */
export interface DoorNote {
  readonly door?: string;
  readonly sandbox?: number;
  readonly call?: number;
}

/** Takes the doors that a helper with an IPC channel hands over. */
export function hearDoors(
  child: ChildProcess,
  take: (note: DoorNote, handle: unknown) => void,
): void {
  child.on('message', (note, handle: unknown) => {
    if (handle) take(note as DoorNote, handle);
  });
}
