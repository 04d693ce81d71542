import { constants } from 'node:os';

import { describe, expect, it } from 'vitest';

import { toOutcome } from '../../../src/backends/steward/outcome.ts';
import type { CallEnd } from '../../../src/backends/steward/steward-call.ts';

const { errno, signals } = constants;
const END: CallEnd = {
  kind: 'exited',
  value: 0,
  cause: 'none',
  reached: [],
  cpuMs: 0,
  maxMemoryBytes: 0,
  diskBytes: 0,
  dropped: { stdout: 0, stderr: 0 },
};
const limits = { wallMs: 5, cpuMs: 6, memoryBytes: 7, pids: 8, diskBytes: 9, inodes: 10 };
const of = (end: Partial<CallEnd>, cause?: 'timeout' | 'aborted') =>
  toOutcome({ end: { ...END, ...end }, argv: ['prog'], limits, cause });
const killed = { kind: 'signaled', value: signals.SIGKILL } as const;

describe('toOutcome()', () => {
  it.each([
    ['an exit', of({ value: 3 }), { kind: 'exited', exitCode: 3 }],
    ['a signal', of({ kind: 'signaled', value: 11 }), { kind: 'signaled', signal: 'SIGSEGV' }],
    [
      'a signal without a name',
      of({ kind: 'signaled', value: 40 }),
      { kind: 'exited', exitCode: 168 },
    ],
    ['a kill by assay', of(killed, 'aborted'), { kind: 'aborted' }],
    ['a kill by the clock', of(killed, 'timeout'), { kind: 'timeout', limitMs: 5 }],
    ['a kill by somebody inside', of(killed), { kind: 'signaled', signal: 'SIGKILL' }],
    [
      'a kill for memory',
      of({ ...killed, reached: ['memoryBytes'] }),
      { kind: 'limit', limit: 'memoryBytes', value: 7 },
    ],
    [
      'a shell whose child was killed for memory',
      of({ value: 137, reached: ['memoryBytes'] }),
      { kind: 'limit', limit: 'memoryBytes', value: 7 },
    ],
    [
      'a program that went on though a child was killed',
      of({ value: 0, reached: ['memoryBytes'] }),
      { kind: 'exited', exitCode: 0 },
    ],
    ['too much time', of({ ...killed, cause: 'cpu' }), { kind: 'limit', limit: 'cpuMs', value: 6 }],
    [
      'too much disk',
      of({ ...killed, cause: 'disk' }),
      { kind: 'limit', limit: 'diskBytes', value: 9 },
    ],
    [
      'too many files',
      of({ ...killed, cause: 'inodes' }),
      { kind: 'limit', limit: 'inodes', value: 10 },
    ],
    [
      'a program that is not there',
      of({ kind: 'not started', value: errno.ENOENT }),
      { kind: 'refused', denial: { action: 'exec', target: 'prog' } },
    ],
    [
      'no process left to start it in',
      of({ kind: 'not started', value: errno.EAGAIN }),
      { kind: 'limit', limit: 'pids', value: 8 },
    ],
  ])('tells %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('says why a program that is there could not be started', () => {
    const found = of({ kind: 'not started', value: errno.EACCES });
    expect(found).toMatchObject({
      kind: 'refused',
      denial: { rule: expect.stringContaining('EACCES') },
    });
  });
});
