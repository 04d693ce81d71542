import { constants } from 'node:os';
import type { Outcome } from './sandbox.ts';

const TIMED_OUT = 124;
const CANNOT_EXECUTE = 126;
const NOT_FOUND = 127;
const SIGNALED = 128;

/** What a shell would say. */
export function toExitCode(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'exited':
      return outcome.exitCode;
    case 'signaled':
      return SIGNALED + constants.signals[outcome.signal];
    case 'timeout':
      return TIMED_OUT;
    case 'refused':
      return outcome.denial.rule === undefined ? NOT_FOUND : CANNOT_EXECUTE;
    case 'limit':
    case 'aborted':
      return SIGNALED + constants.signals.SIGKILL;
  }
}
