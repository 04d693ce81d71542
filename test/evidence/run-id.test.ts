import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import { normalise } from '../../src/evidence/normalise/normalise.ts';
import { computeRunId } from '../../src/evidence/run-id.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { Event } from '../../src/observe/event.ts';
import { file, makeRecord, NOON_MS } from './make-record.ts';
import { makeRandom, pick, shuffle } from './normalise/seeded-random.ts';
import { watchProcessor } from '../processor-time.ts';
import {
  ALPHANUMERIC,
  BASE,
  type Circumstances,
  idOf,
  makeRun,
  USUAL,
  withEvents,
} from './typical-run.ts';

describe('computeRunId()', () => {
  it('is the digest of canonical JSON', () => {
    const normalised = normalise(BASE);
    const { command, degradations, lines } = normalised;
    const { runId, digest, readsSystemDigest } = computeRunId(BASE, normalised);
    const parts = (list: typeof lines): unknown[] =>
      list.map((line) => [
        line.op,
        line.path,
        line.target ?? null,
        line.outcome,
        line.program,
        line.refusedBy ?? null,
        line.digest ?? null,
      ]);
    const schema = 'assay.run-id.v1';
    const end = { execError: '', exitCode: 0, isTimedOut: false, limit: '', signal: 0 };
    const content = { command, degradations, end, lines: parts(lines), schema };
    expect(digest).toBe(sha256Hex(canonicalJson(content)));
    expect(runId).toBe(`sandbox_${digest.slice(0, 16)}`);
    expect(readsSystemDigest).toBe(
      sha256Hex(canonicalJson({ lines: parts(normalised.systemReads), schema })),
    );
  });

  it.each<[string, Partial<Circumstances>]>([
    ['other random names', { seed: 2 }],
    ['still other random names', { seed: 3 }],
    ['another day', { startMs: NOON_MS + 24 * 3_600_000 }],
    ['another year', { startMs: Date.UTC(2027, 1, 3, 12) }],
    ['another time of day', { startMs: NOON_MS - 11.9 * 3_600_000 }],
    ['another process', { firstPid: 2_345_000 }],
    ['another directory', { cwd: '/home/me/elsewhere/deeper/my.app_2' }],
    ['a directory outside the home', { cwd: '/srv/builds/x' }],
    ['a directory at the top', { cwd: '/w' }],
    ['another user', { user: 'other', uid: 1234, home: '/home/other', cwd: '/home/other/w' }],
    ['root', { user: 'root', uid: 0, home: '/root', cwd: '/root/w' }],
    ['another tmp', { tmpdir: '/var/tmp/assay-77' }],
    [
      'everything else',
      {
        seed: 9,
        firstPid: 777_000,
        startMs: Date.UTC(2031, 0, 1),
        uid: 501,
        user: 'jo',
        home: '/data/homes/jo',
        cwd: '/mnt/disk/jo/p',
        tmpdir: '/tmp/z',
      },
    ],
  ])('is the same for %s', (_, change) => {
    expect(normalise(makeRun({ ...USUAL, ...change })).lines).toEqual(normalise(BASE).lines);
    expect(idOf(makeRun({ ...USUAL, ...change }))).toBe(idOf(BASE));
  });

  it('is the same in any order of events', () => {
    const random = makeRandom(5);
    for (let round = 0; round < 20; round += 1)
      expect(idOf({ ...BASE, events: shuffle(random, BASE.events) })).toBe(idOf(BASE));
  });

  it('is the same whatever numbers programs have, in whatever order they are listed', () => {
    const renumber = (id: number): number => (id === 0 ? 0 : 40 - id);
    const record: RunRecord = {
      ...BASE,
      programs: BASE.programs
        .map((one) => ({ ...one, id: renumber(one.id), parent: renumber(one.parent) }))
        .reverse(),
      events: BASE.events.map((event) =>
        'program' in event ? { ...event, program: renumber(event.program) } : event,
      ),
    };
    expect(idOf(record)).toBe(idOf(BASE));
  });

  const { cwd } = USUAL;
  it.each<[string, RunRecord]>([
    ['counts', { ...BASE, events: BASE.events.map((event) => ({ ...event, count: 7 })) }],
    [
      'how it is known',
      { ...BASE, events: BASE.events.map((event) => ({ ...event, basis: 'observed' })) },
    ],
    ['the environment', { ...BASE, environment: { passed: ['CI'], removed: ['TOKEN'] } }],
    [
      'one more temporary file of the same program',
      withEvents(file('create', '/tmp/ccQQxx12.s', { program: 2 })),
    ],
    [
      'a race for a directory',
      withEvents(file('mkdir', `/tmp/agent-${USUAL.uid}`, { outcome: 'EEXIST' })),
    ],
    [
      'a probe that came too early',
      withEvents(file('read', `${cwd}/main.o`, { program: 2, outcome: 'ENOENT' })),
    ],
    [
      'an index that git gave up',
      withEvents(file('unlink', `${cwd}/.git/index.lock`, { program: 3 })),
    ],
    [
      'when things happened, or how they are known',
      {
        ...BASE,
        launchedMs: 5,
        events: BASE.events.map((event) =>
          'basis' in event ? { ...event, atMs: 77, basis: 'predicted' as const } : event,
        ),
        programs: BASE.programs.map((one) => ({ ...one, atMs: 3 })),
      },
    ],
    ['an interrupted call', withEvents(file('read', `${cwd}/fifo`, { outcome: 'EINTR' }))],
    [
      'another file of the system read',
      withEvents(file('read', '/usr/lib/libm.so', { program: 2 })),
    ],
    [
      'an update of the compiler',
      {
        ...BASE,
        programs: BASE.programs.map((one) =>
          one.id === 2 ? { ...one, digest: 'cd'.repeat(32) } : one,
        ),
      },
    ],
    [
      'a rule that has moved in its file',
      {
        ...BASE,
        events: BASE.events.map((event) =>
          'decision' in event && event.decision
            ? {
                ...event,
                decision: { rule: `${cwd}/p.yaml:9:1 fs.deny: ~/.ssh`, layer: 'kernel' as const },
              }
            : event,
        ),
      },
    ],
  ])('does not depend on %s', (_, record) => {
    expect(idOf(record)).toBe(idOf(BASE));
  });

  it('tells by a second digest which files of the system were read', () => {
    const more = withEvents(file('read', '/usr/lib/libm.so', { program: 2 }));
    expect(computeRunId(more, normalise(more)).readsSystemDigest).not.toBe(
      computeRunId(BASE, normalise(BASE)).readsSystemDigest,
    );
  });
});

describe('a long run', () => {
  it('of 200,000 events takes seconds, whether names stay or pass', () => {
    const random = makeRandom(11);
    const events: Event[] = [];
    for (let index = 0; index < 100_000; index += 1)
      events.push(file('create', `${USUAL.cwd}/d${index % 300}/name-${index}.txt`));
    for (let index = 0; index < 50_000; index += 1) {
      const path = `/tmp/d${index % 300}/cc${pick(random, ALPHANUMERIC, 6)}.s`;
      events.push(file('create', path), file('unlink', path));
    }
    const record = makeRecord(events);
    const spentMs = watchProcessor();
    const normalised = normalise(record);
    computeRunId(record, normalised);
    expect(spentMs()).toBeLessThan(20_000);
    expect(normalised.lines.length).toBe(100_000 + 600 + 2);
  }, 300_000);
});
