import type { FileState } from '../observe/event.ts';
import type { FinalState } from './run-record.ts';

/** What stands at a path now. */
export interface StateNow extends FileState {
  readonly isDirectory: boolean;
}

export function compareStates(before: FileState | undefined, now: StateNow | null): FinalState {
  if (!now) return 'absent';
  if (now.isDirectory) return 'directory';
  if (!before) return 'there';
  if (now.dev !== before.dev || now.ino !== before.ino || now.size !== before.size) return 'other';
  if (now.mtimeNs !== before.mtimeNs) return 'changed';
  if (before.ctimeNs === '') return 'alike';
  return now.ctimeNs === before.ctimeNs ? 'same' : 'touched';
}
