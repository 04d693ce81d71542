import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { Event, Program } from '../../src/observe/event.ts';

const COMPLETE = { status: 'complete', reasons: [] } as const;

/** A run of `sh` in /home/ada/work, with whatever events a test wants. */
export function sampleRecord(
  events: readonly (Partial<Event> & Pick<Event, 'kind'>)[] = [],
  more: Partial<RunRecord> = {},
): RunRecord {
  const attempt = { outcome: 'ok', basis: 'performed', program: 1, count: 1, atMs: 0 };
  return {
    command: ['sh', 'build.sh'],
    level: 'all',
    events: events.map((event) => ({ ...attempt, ...event }) as Event),
    programs: [sampleProgram({ id: 1, image: '/usr/bin/dash' })],
    coverage: {
      reads: COMPLETE,
      changes: COMPLETE,
      programs: COMPLETE,
      network: COMPLETE,
      environment: COMPLETE,
    },
    end: { exitCode: 0, signal: 0, isTimedOut: false, limit: '', execError: undefined },
    variables: {
      cwd: '/home/ada/work',
      home: '/home/ada',
      tmpdir: '/tmp/assay-1000-42',
      user: 'ada',
    },
    privateTmp: ['/tmp', '/var/tmp', '/tmp/assay-1000-42'],
    uid: 1000,
    startedMs: Date.UTC(2026, 10, 15, 12),
    launchedMs: Date.UTC(2026, 10, 15, 12),
    endedMs: Date.UTC(2026, 10, 15, 12, 0, 3),
    pids: [{ first: 100_001, last: 100_009 }],
    finalStates: new Map(),
    movedContents: new Map(),
    policy: { name: 'coding-agent', isDefault: false },
    mode: 'containment',
    network: 'private',
    layers: [
      { layer: 'landlock', status: 'enforced', reason: '' },
      { layer: 'broker', status: 'enforced', reason: '' },
      { layer: 'mount', status: 'enforced', reason: '' },
    ],
    environment: { passed: ['PATH', 'HOME'], removed: ['AWS_SECRET_ACCESS_KEY'] },
    hidden: [],
    overflow: [],
    ...more,
  };
}

export function sampleProgram(more: Partial<Program> & Pick<Program, 'id' | 'image'>): Program {
  return { parent: 0, digest: 'ab'.repeat(32), count: 1, atMs: 0, commands: [['sh']], ...more };
}

export const OPTIONS = {
  name: 'run.profile',
  assayVersion: '0.1.0',
  host: { kernel: '6.18.0', architecture: 'x64' },
};
