import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import type { Event } from '../../../src/observe/event.ts';
import { file, makeRecord } from '../make-record.ts';

export const CWD = '/home/me/project';

/** The form of `path` after a run that made it and kept it. */
export function kept(path: string, more: Partial<RunRecord> = {}): string {
  return normalise(makeRecord([file('create', path)], more)).pathOf(path);
}

/** The form of `path` after a run that made it and removed it. */
export function passing(path: string, others: readonly Event[] = []): string {
  const events = [file('create', path), file('unlink', path), ...others];
  return normalise(makeRecord(events)).pathOf(path);
}

/** The form of `path` after a run that only read it. */
export function found(path: string, more: Partial<RunRecord> = {}): string {
  return normalise(makeRecord([file('read', path)], more)).pathOf(path);
}
