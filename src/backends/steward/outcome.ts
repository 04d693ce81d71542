import { constants } from 'node:os';
import type { LimitName } from '../backend.ts';
import type { Denial, Outcome } from '../sandbox.ts';
import type { SandboxLimits } from '../spec.ts';
import type { CallEnd } from './steward-call.ts';

/** Why assay itself has ended a call. */
export type OwnCause = 'timeout' | 'aborted';

export interface OutcomeInput {
  readonly end: CallEnd;
  readonly argv: readonly string[];
  readonly limits: SandboxLimits;
  readonly cause: OwnCause | undefined;
}

const { errno, signals } = constants;
const NOT_THERE: readonly number[] = [errno.ENOENT, errno.ENOTDIR];
/** As a shell says it of a child that was killed. */
const KILLED_CODE = 128 + signals.SIGKILL;

function nameSignal(number: number): NodeJS.Signals | undefined {
  const found = Object.entries(signals).find(([, value]) => value === number);
  return found?.[0] as NodeJS.Signals | undefined;
}

export function toOutcome({ end, argv, limits, cause }: OutcomeInput): Outcome {
  const { kind, value, reached } = end;
  const limit = (name: LimitName): Outcome => ({
    kind: 'limit',
    limit: name,
    value: limits[name] ?? 0,
  });
  if (cause === 'aborted') return { kind: 'aborted' };
  if (cause === 'timeout') return { kind: 'timeout', limitMs: limits.wallMs ?? 0 };
  if (end.cause === 'cpu') return limit('cpuMs');
  if (end.cause === 'disk') return limit('diskBytes');
  if (end.cause === 'inodes') return limit('inodes');
  if (kind === 'not started')
    return value === errno.EAGAIN
      ? limit('pids')
      : { kind: 'refused', denial: toDenial(end, argv) };
  const isKilled = kind === 'signaled' ? value === signals.SIGKILL : value === KILLED_CODE;
  if (isKilled && reached.includes('memoryBytes')) return limit('memoryBytes');
  if (kind === 'signaled' && value === signals.SIGXCPU && limits.cpuMs) return limit('cpuMs');
  if (kind === 'exited') return { kind: 'exited', exitCode: value };
  const signal = nameSignal(value);
  // Real-time signals have no name here; a shell would say the same.
  return signal ? { kind: 'signaled', signal } : { kind: 'exited', exitCode: 128 + value };
}

function toDenial({ value }: CallEnd, argv: readonly string[]): Denial {
  const target = argv[0] ?? '';
  if (NOT_THERE.includes(value)) return { action: 'exec', target };
  const name = Object.entries(errno).find(([, number]) => number === value)?.[0];
  return { action: 'exec', target, rule: `the kernel inside refuses to start it (${name})` };
}
