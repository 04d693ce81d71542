import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { findProcessesBelow } from '../fixture.ts';
import { exists, prints, stillBeats } from '../marks.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

function limit(row: Row, ...flags: string[]): Attack {
  return {
    class: 'limit',
    control: ['cgroup', 'rlimits', 'broker'],
    flags: () => ['--preset', 'coding-agent', ...flags],
    isSuccess: () => false,
    ...row,
  };
}

const forkedMany: Attack['isSuccess'] = (result) =>
  Number(/^forked (\d+)/m.exec(result.stdout)?.[1] ?? 0) > 100;
const heldMemory = prints(/^held memory/m);
const filled = prints(/^filled/m);
const tookLong: Attack['isSuccess'] = (result) => result.elapsedMs > 7000;

export const LIMIT_ATTACKS: readonly Attack[] = [
  limit({ id: 'limit-forks', title: '200 processes', isSuccess: forkedMany }, '--limit-pids', '64'),
  limit({ id: 'limit-threads', title: '200 threads', isSuccess: forkedMany }, '--limit-pids', '64'),
  limit(
    { id: 'limit-memory', title: '300 MiB in one process', isSuccess: heldMemory },
    '--limit-memory',
    '128M',
  ),
  limit(
    { id: 'limit-memory-tree', title: '320 MiB in four processes', isSuccess: heldMemory },
    '--limit-memory',
    '128M',
  ),
  limit(
    { id: 'limit-memory-memfd', title: '300 MiB mapped nowhere', isSuccess: heldMemory },
    '--limit-memory',
    '128M',
  ),
  limit(
    { id: 'limit-disk', title: '48 MiB in one file', isSuccess: filled },
    '--limit-disk',
    '16M',
  ),
  limit(
    { id: 'limit-disk-many', title: '48 MiB in many files', isSuccess: filled },
    '--limit-disk',
    '16M',
  ),
  limit({ id: 'limit-disk-tmp', title: '48 MiB in tmp', isSuccess: filled }, '--limit-disk', '16M'),
  limit(
    { id: 'limit-disk-unlinked', title: '48 MiB in a file without a name', isSuccess: filled },
    '--limit-disk',
    '16M',
  ),
  limit(
    { id: 'limit-disk-fallocate', title: '48 MiB by fallocate', isSuccess: filled },
    '--limit-disk',
    '16M',
  ),
  limit(
    {
      id: 'limit-inodes',
      title: '600 files and directories',
      isSuccess: (result) => Number(/^created (\d+)/m.exec(result.stdout)?.[1] ?? 0) >= 400,
    },
    '--limit-files',
    '200',
  ),
  limit(
    { id: 'limit-cpu', title: '2.4 s of processor time', isSuccess: prints(/^burned/m) },
    '--limit-cpu',
    '1',
  ),
  limit(
    {
      id: 'limit-cpu-tree',
      title: '2.4 s of processor time in short processes',
      isSuccess: prints(/^burned/m),
    },
    '--limit-cpu',
    '1',
  ),
  limit(
    {
      id: 'limit-output',
      title: 'flood the output while nobody reads, deaf to SIGTERM',
      control: ['lifetime'],
      isStalled: true,
      isSuccess: tookLong,
    },
    '--timeout',
    '1',
  ),
  limit(
    {
      id: 'limit-deaf',
      title: 'ignore every signal at the time limit',
      control: ['lifetime'],
      isSuccess: tookLong,
    },
    '--timeout',
    '1',
  ),
];

function leftover(row: Row): Attack {
  return {
    class: 'leftover',
    control: ['lifetime', 'pid'],
    flags: () => ['--preset', 'coding-agent'],
    isSuccess: stillBeats,
    ...row,
  };
}

/** The program's child got to its end, or is on its way. */
const outlivesJob: Attack['isSuccess'] = async (result, fixture) =>
  (await exists('work/finished')(result, fixture)) || stillBeats(result, fixture);

function killAssay(fixture: Fixture): void {
  for (const pid of findProcessesBelow(fixture.base)) {
    try {
      const isAssay = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0sandbox\0');
      if (isAssay) process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended since it was found
    }
  }
}

export const LEFTOVER_ATTACKS: readonly Attack[] = [
  leftover({ id: 'daemon-background', title: 'stay in the background' }),
  leftover({
    id: 'daemon-double-fork',
    title: 'fork twice, in a session of its own, deaf to signals',
  }),
  leftover({ id: 'daemon-chain', title: 'fork and exit without end' }),
  leftover({ id: 'daemon-stopped', title: 'stop, deaf to signals, with a child that goes on' }),
  leftover({
    id: 'daemon-stopped-job',
    title: 'stop the job on the terminal, with a child that goes on past the time limit',
    flags: () => ['--preset', 'coding-agent', '--timeout', '1'],
    hasTerminal: true,
    isSuccess: outlivesJob,
  }),
  leftover({
    id: 'daemon-stopped-job-killed',
    title: 'stop the job on the terminal, with a child that goes on when assay is killed',
    hasTerminal: true,
    onLine: (line, fixture) => {
      if (line.trim() === 'ready') killAssay(fixture);
    },
    isSuccess: outlivesJob,
  }),
  leftover({ id: 'daemon-kill-supervisor', title: 'end the supervisor and stay' }),
  leftover({ id: 'daemon-stop-supervisor', title: 'stop the supervisor and stay' }),
];
