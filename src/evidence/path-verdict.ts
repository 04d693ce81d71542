import type { FileEvent } from '../observe/event.ts';
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

export type FinalStates = ReadonlyMap<string, FinalState>;
