import type {
  Event,
  ExecEvent,
  FileEvent,
  FileOp,
  NetworkEvent,
  Program,
} from '../../src/observe/event.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';

/** 12:00 UTC on 15 November 2026, when the runs of the tests take place unless they say otherwise. */
export const NOON_MS = Date.UTC(2026, 10, 15, 12);

const ATTEMPT = { basis: 'performed', outcome: 'ok', program: 1, count: 1, atMs: 0 } as const;

export function file(op: FileOp, path: string, more: Partial<FileEvent> = {}): FileEvent {
  return { ...ATTEMPT, kind: 'file', op, path, ...more };
}

export function exec(path: string, more: Partial<ExecEvent> = {}): ExecEvent {
  return { ...ATTEMPT, kind: 'exec', path, ...more };
}

export function network(
  op: NetworkEvent['op'],
  endpoint: string,
  more: Partial<NetworkEvent> = {},
): NetworkEvent {
  const [, family = '', host = '', port] = /^(\w+):(.*?)(?::(\d+))?$/.exec(endpoint) ?? [];
  return {
    ...ATTEMPT,
    kind: 'network',
    op,
    family,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    ...(port !== undefined && { port: Number(port) }),
    ...more,
  };
}

export function program(id: number, image: string, more: Partial<Program> = {}): Program {
  const digest = 'ab'.repeat(32);
  return { id, parent: id - 1, image, count: 1, atMs: 0, commands: [], digest, ...more };
}

const COMPLETE = { status: 'complete', reasons: [] } as const;

/** A run of `make` that took five seconds. */
export function makeRecord(events: readonly Event[], more: Partial<RunRecord> = {}): RunRecord {
  return {
    command: ['make', 'all'],
    level: 'all',
    events,
    programs: [program(1, '/usr/bin/make'), program(2, '/usr/bin/gcc')],
    coverage: {
      reads: COMPLETE,
      changes: COMPLETE,
      programs: COMPLETE,
      network: COMPLETE,
      environment: COMPLETE,
    },
    end: { exitCode: 0, signal: 0, isTimedOut: false, limit: '', execError: undefined },
    variables: { cwd: '/home/me/project', home: '/home/me', tmpdir: '/tmp/private', user: 'me' },
    privateTmp: ['/tmp', '/var/tmp'],
    uid: 1000,
    startedMs: NOON_MS,
    launchedMs: NOON_MS,
    endedMs: NOON_MS + 5000,
    pids: [{ first: 100_000, last: 100_200 }],
    finalStates: new Map(),
    hidden: [],
    movedContents: new Map(),
    policy: { name: 'coding-agent', isDefault: true },
    mode: 'containment',
    network: 'none',
    layers: [],
    environment: { passed: [], removed: [] },
    overflow: [],
    ...more,
  };
}
