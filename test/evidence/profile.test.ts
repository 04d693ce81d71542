import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serialiseEvidence } from '../../src/artifacts/serialise.ts';
import { checkEvidence } from '../../src/evidence/evidence-digest.ts';
import type { Evidence } from '../../src/evidence/evidence.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import { OPTIONS, sampleProgram, sampleRecord } from './sample-record.ts';

type Sample = NonNullable<Parameters<typeof sampleRecord>[0]>;

/** The same in another directory. */
function makeRun(cwd: string, more: Partial<RunRecord> = {}, tmpName = 'ccAb12Cd.o'): RunRecord {
  const events = [
    { kind: 'file', op: 'create', path: `${cwd}/a.txt` },
    { kind: 'file', op: 'create', path: `/tmp/${tmpName}` },
    { kind: 'file', op: 'unlink', path: `/tmp/${tmpName}` },
    { kind: 'file', op: 'read', path: '/home/ada/.gitconfig', count: 7 },
    { kind: 'network', op: 'connect', family: 'tcp', host: '127.0.0.1', port: 80 },
    {
      kind: 'file',
      op: 'write',
      path: `${cwd}/.vscode/tasks.json`,
      outcome: 'EACCES',
      decision: { rule: 'configuration protection config: .vscode', layer: 'broker' },
    },
    { kind: 'degradation', rule: 'signals', reason: 'no pid namespace' },
  ] as Sample;
  const { variables } = sampleRecord();
  return sampleRecord(events, { variables: { ...variables, cwd }, ...more });
}

function evidenceOf(events: Sample, more: Partial<RunRecord> = {}): Evidence {
  return makeEvidence(sampleRecord(events, more), OPTIONS);
}

describe('makeEvidence()', () => {
  const evidence = makeEvidence(makeRun('/home/ada/work'), OPTIONS);

  it('has the same content for the same behaviour, whenever and wherever', () => {
    const other = makeEvidence(
      makeRun('/srv/elsewhere', { startedMs: 5, endedMs: 9, pids: [] }, 'ccXy98Zw.o'),
      { ...OPTIONS, assayVersion: '9.9.9', host: { kernel: '5.10' } },
    );
    const { digest: _, run, ...content } = evidence;
    const { digest: otherDigest, run: otherRun, ...otherContent } = other;
    expect(otherContent).toEqual(content);
    expect(otherDigest).toBe(evidence.digest);
    expect(otherRun.digest).not.toBe(run.digest);
  });

  it('has another digest when something else happened', () => {
    const run = makeRun('/home/ada/work');
    const other = makeEvidence({ ...run, events: run.events.slice(1) }, OPTIONS);
    expect(other.digest).not.toBe(evidence.digest);
  });

  it('does not depend on the order of events', () => {
    const run = makeRun('/home/ada/work');
    const shuffled = makeEvidence({ ...run, events: run.events.toReversed() }, OPTIONS);
    // The file in the tmp is made and removed, or removed and made: that does depend on the order.
    expect(shuffled.digest).toBe(evidence.digest);
  });

  it('keeps times, hosts, users and counts to the run block', () => {
    const { run, ...content } = evidence;
    expect(JSON.stringify(content)).not.toMatch(/\bada\b|\b2026\b|6\.18|\b0\.1\.0\b/);
    expect(run).toMatchObject({
      created_at: '2026-11-15T12:00:00.000Z',
      duration_ms: 3000,
      directories: { cwd: '/home/ada/work' },
      hits: { 'read ${HOME}/.gitconfig': 7 },
      user: 'ada',
    });
  });

  it('sums up the three controls', () => {
    expect(evidence.controls).toMatchObject({
      egress: { verdict: 'held', used: ['tcp:127.0.0.1:80'], refused: 0 },
      writes: { verdict: 'refused attempts', used: ['${CWD}'], refused: 1 },
      configuration: { verdict: 'refused attempts', used: [], refused: 1 },
    });
  });

  it('says that nothing is enforced in a dry run, and when the network is open', () => {
    const dry = evidenceOf([], { mode: 'dry-run' });
    expect(Object.values(dry.controls).map(({ verdict }) => verdict)).toEqual([
      'not enforced',
      'not enforced',
      'not enforced',
    ]);
    expect(evidenceOf([], { network: 'host' }).controls.egress.verdict).toBe('not enforced');
  });

  it('shows what a missing layer costs', () => {
    const layers = [{ layer: 'landlock', status: 'enforced', reason: '' }];
    const { controls } = evidenceOf(
      [
        {
          kind: 'degradation',
          rule: 'fs.deny: ~/.ssh',
          reason: 'needs the broker',
        } as Sample[number],
      ],
      { layers },
    );
    expect(controls.writes).toMatchObject({
      verdict: 'partly enforced',
      reasons: ['fs.deny: ~/.ssh: needs the broker'],
    });
    expect(controls.configuration.verdict).toBe('not enforced');
  });

  it('states what did not happen only where all was watched', () => {
    const quiet = evidenceOf([]);
    expect(quiet.statements).toEqual([
      'No file was changed outside the private tmp.',
      'No protected configuration was changed.',
      'No network connection was made.',
      "No program was run from outside the system's own directories.",
      'No attempt was refused.',
    ]);
    const { coverage } = sampleRecord();
    const partial = { status: 'partial', reasons: ['3 events lost'] } as const;
    const absent = { status: 'absent', reasons: ['not watched'] } as const;
    expect(
      evidenceOf([], {
        coverage: { ...coverage, changes: partial, network: partial, programs: absent },
      }).statements,
    ).toEqual([]);
  });

  it('does not state what is not so', () => {
    const { statements } = evidenceOf(
      [
        { kind: 'file', op: 'create', path: '/home/ada/.bashrc' },
        { kind: 'network', op: 'connect', family: 'tcp', host: '192.0.2.1', port: 443 },
      ] as Sample,
      { programs: [sampleProgram({ id: 1, image: '/home/ada/work/tool' })] },
    );
    expect(statements).toEqual(['No attempt was refused.']);
  });

  it('says nothing of a surface whose events were folded', () => {
    const overflow = [
      { op: 'create', directory: '/x', outcome: 'ok', program: 1, count: 9, digest: 'ab', atMs: 0 },
    ];
    const { statements, entries } = evidenceOf([], { overflow });
    expect(statements.join()).not.toContain('changed');
    expect(entries.folded).toHaveLength(1);
  });

  it('keeps the journal of a database beside the content, and its name with it', () => {
    const states = new Map([
      ['/home/ada/work/x.db', 'changed'],
      ['/home/ada/work/x.db-wal', 'changed'],
    ] as const);
    const { changes, run } = evidenceOf(
      [
        { kind: 'file', op: 'create', path: '/home/ada/work/x.db' },
        { kind: 'file', op: 'create', path: '/home/ada/work/x.db-wal' },
      ] as Sample,
      { finalStates: states },
    );
    expect(changes.created).toEqual(['${CWD}/x.db']);
    expect(run.real_changes.created).toEqual(['/home/ada/work/x.db-wal']);
  });

  it('keeps the real names of directories that lead to a copy of the path of the workspace', () => {
    const copied = ['/home', '/home/ada', '/home/ada/work'].map(
      (path) => `/home/ada/work/s${path}`,
    );
    const { changes, run } = evidenceOf(
      copied.map((path) => ({ kind: 'file', op: 'mkdir', path })) as Sample,
      { finalStates: new Map(copied.map((path) => [path, 'directory'])) },
    );
    expect(changes.created).toEqual(['${CWD}/s/${CWD}/', '${CWD}/s/${UP}/']);
    expect(run.real_changes.created).toEqual([
      '/home/ada/work/s/home/',
      '/home/ada/work/s/home/ada/',
    ]);
  });

  it('lists programs with digests, parents and scripts', () => {
    const { entries } = evidenceOf([], {
      programs: [
        sampleProgram({ id: 1, image: '/usr/bin/dash' }),
        sampleProgram({
          id: 2,
          parent: 1,
          image: '/usr/bin/node',
          script: '/home/ada/work/cli.js',
          digest: 'cd'.repeat(32),
        }),
      ],
    });
    expect(entries.processes).toEqual({
      '/usr/bin/dash': {
        digests: [`sha256:${'ab'.repeat(32)}`],
        parents: ['assay'],
        scripts: [],
      },
      '/usr/bin/node': {
        digests: [`sha256:${'cd'.repeat(32)}`],
        parents: ['/usr/bin/dash'],
        scripts: ['${CWD}/cli.js'],
      },
    });
  });
});

describe('checkEvidence()', () => {
  const evidence = makeEvidence(makeRun('/home/ada/work'), OPTIONS);

  it.each(['yaml', 'json'] as const)('accepts what was written as %s', (format) => {
    const text = [...serialiseEvidence(evidence, format)].join('');
    const back: unknown = format === 'yaml' ? parse(text) : JSON.parse(text);
    expect(back).toEqual(evidence);
    expect(checkEvidence(back)).toEqual([]);
  });

  it('finds a change in the content and in the run block', () => {
    const clone = (): Record<string, unknown> => structuredClone({ ...evidence });
    const content = { ...clone(), statements: [] };
    expect(checkEvidence(content)).toEqual([{ message: 'its content does not match its digest' }]);
    const run = { ...clone(), run: { ...evidence.run, user: 'eve' } };
    expect(checkEvidence(run)).toEqual([{ message: 'its run block does not match its digest' }]);
    expect(checkEvidence({ ...clone(), extra: 1 })).toHaveLength(1);
  });

  it.each([null, 1, 'x', [], {}, { kind: 'assay.evidence-profile', version: '2.0' }])(
    'refuses %j',
    (value) => {
      expect(checkEvidence(value)).toHaveLength(1);
    },
  );
});
