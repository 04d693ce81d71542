import type { Event, FileEvent } from '../observe/event.ts';
import type { FinalState } from './run-record.ts';

export type ChangeKind = 'created' | 'modified' | 'removed' | 'attributes';

/** What became of one path. */
export interface PathVerdict {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly isDirectory: boolean;
  /** How it ended could not be looked at. */
  readonly isUnverified: boolean;
}

/** A change that was made. */
export type Change = FileEvent;

/** Whether something may be another one, or otherwise, since. */
export function isChange(event: Event): event is Change {
  return (
    event.kind === 'file' && event.op !== 'read' && event.outcome === 'ok' && event.move !== 'none'
  );
}

export type FinalStates = ReadonlyMap<string, FinalState>;
