import { normalise } from '../../../src/evidence/normalise/normalise.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import type { Event } from '../../../src/observe/event.ts';
import { makeRecord } from '../make-record.ts';

export const CWD = '/home/me/project';

/** The lines of what happened, as `op path [target] outcome [program]`; those of the programs are left out. */
export function linesOf(events: readonly Event[], more: Partial<RunRecord> = {}): string[] {
  return normalise(makeRecord(events, more))
    .lines.filter(({ op }) => op !== 'run')
    .map(({ op, path, target, outcome, program: by, refusedBy }) =>
      [
        op,
        path,
        target,
        outcome,
        by === '/usr/bin/make' ? undefined : by,
        refusedBy === undefined ? undefined : `refused(${refusedBy})`,
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    );
}
