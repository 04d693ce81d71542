import { spellName } from '../../core/name-bytes.ts';
import { constants } from 'node:os';
import type { LimitName } from '../backend.ts';
import type { Outcome } from '../sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxLimits } from '../spec.ts';
import { nameErrno } from './guest-files.ts';
import type { Exit } from './messages.ts';

const SIGNALED = 128;

/** What the host has asked for meanwhile. */
export type Cause = 'aborted' | 'timeout' | undefined;

export interface Ending {
  readonly exit: Exit;
  readonly cause: Cause;
  readonly limits: SandboxLimits;
  readonly program: string;
}

export function toOutcome({ exit, cause, limits, program }: Ending): Outcome {
  if (exit.endedBy === 'host' && cause === 'aborted') return { kind: 'aborted' };
  if (exit.endedBy === 'host' || exit.endedBy === 'wall')
    return { kind: 'timeout', limitMs: limits.wallMs ?? 0 };
  if (exit.endedBy === 'memory')
    return { kind: 'limit', limit: 'memoryBytes', value: limits.memoryBytes ?? 0 };
  if (exit.endedBy === 'cpu') return { kind: 'limit', limit: 'cpuMs', value: limits.cpuMs ?? 0 };
  if (exit.how === 'unstarted') return refuse(exit, program);
  if (exit.how === 'exited') return { kind: 'exited', exitCode: exit.value };
  const signal = nameSignal(exit.value);
  // Real-time signals have no name here; a shell would say it so.
  return signal
    ? { kind: 'signaled', signal }
    : { kind: 'exited', exitCode: SIGNALED + exit.value };
}

export function listReached({ exit }: Ending): LimitName[] {
  const ended: LimitName[] =
    exit.endedBy === 'memory' ? ['memoryBytes'] : exit.endedBy === 'cpu' ? ['cpuMs'] : [];
  return [...ended, ...exit.reached];
}

function nameSignal(number: number): NodeJS.Signals | undefined {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] as NodeJS.Signals | undefined;
}

function refuse({ step, value }: Exit, program: string): Outcome {
  const name = nameErrno(value);
  if (step === 'cwd')
    throw new SandboxError(
      name === 'ENOENT' ? 'not_found' : 'path_invalid',
      `Cannot start in the directory that was asked for: ${name}`,
    );
  if (step !== 'exec')
    throw new SandboxError('start_failed', `The guest could not start the program: ${name}`);
  const denial = { action: 'exec', target: spellName(program) } as const;
  if (name === 'ENOENT')
    return { kind: 'refused', denial: { ...denial, hint: 'There is no such program inside' } };
  return { kind: 'refused', denial: { ...denial, rule: name } };
}
