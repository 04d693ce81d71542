import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import type { BundleEvent } from '../../../src/evidence/bundle/bundle.ts';
import {
  type CodingAgentPack,
  makeCodingAgentPack,
} from '../../../src/evidence/bundle/coding-agent-pack.ts';
import { generaliseRun } from '../../../src/evidence/general-run.ts';
import type { RunRecord } from '../../../src/evidence/run-record.ts';
import type { EffectivePolicy } from '../../../src/policy/effective-policy.ts';
import { exec, file, makeRecord, network, NOON_MS, program } from '../make-record.ts';
import { bundleOf, draftEvents } from './recorded-bundle.ts';

const CWD = '/home/me/project';

function listLines(events: readonly Pick<BundleEvent, 'data'>[]): Record<string, unknown>[] {
  return events
    .map(({ data }) => data as Record<string, unknown>)
    .filter((data) => 'outcome' in data);
}

/** The same behaviour, wherever it is. */
function makeRun(more: Partial<RunRecord> = {}, cwd = CWD, home = '/home/me'): RunRecord {
  const events = [
    file('read', `${cwd}/Makefile`, { atMs: 40 }),
    file('read', '/usr/lib/libm.so', { atMs: 30 }),
    file('read', '/proc/meminfo', { atMs: 35 }),
    file('create', `${cwd}/out/a.o`, { atMs: 60 }),
    file('write', `${cwd}/out/a.o`, { program: 2, atMs: 90, basis: 'observed' }),
    file('write', `${home}/.bashrc`, {
      outcome: 'EACCES',
      decision: { rule: 'p.yaml:3:5 fs.protect: ~/.bashrc', layer: 'broker' },
      atMs: 70,
    }),
    exec('/usr/bin/gcc', { atMs: 50 }),
    network('connect', 'tcp:10.0.0.1:443', {
      outcome: 'ENETUNREACH',
      decision: { rule: null, layer: 'kernel' },
      atMs: 80,
    }),
    { kind: 'degradation', rule: 'signals', reason: 'no pid namespace' },
    { kind: 'degradation', rule: 'fs.deny: *.pem', reason: 'needs the broker' },
    { kind: 'limit', limit: 'memory' },
  ] as const;
  const fold = { op: 'create', directory: `${cwd}/many`, outcome: 'ok', program: 1, count: 99 };
  return makeRecord(events, {
    variables: { cwd, home, tmpdir: '/tmp/private', user: 'me' },
    finalStates: new Map([[`${cwd}/out/a.o`, 'changed']]),
    programs: [program(1, '/usr/bin/make', { atMs: 5 }), program(2, '/usr/bin/gcc', { atMs: 51 })],
    overflow: [{ ...fold, digest: 'ab'.repeat(16), atMs: 45 }],
    ...more,
  });
}

describe('makeEvents()', () => {
  it('tells of every operation on the network in a bundle that can be read', async () => {
    const { events } = await bundleOf(
      makeRun({
        events: (['connect', 'bind', 'resolve'] as const).map((op) =>
          network(op, op === 'resolve' ? 'example.org' : 'tcp:192.0.2.1:443'),
        ),
      }),
    );
    const told = events.filter(({ type }) => type === 'assay.sandbox.net');
    expect(told.map(({ data }) => (data as { op: string }).op).toSorted()).toEqual([
      'bind',
      'connect',
      'resolve',
    ]);
  });

  it('tells a run in the order of the format', () => {
    const types = draftEvents(makeRun()).map(({ type }) => type.replace('assay.', ''));
    expect(types).toEqual([
      'profile.started',
      'sandbox.policy',
      'sandbox.environment',
      'sandbox.layers',
      'sandbox.degraded',
      'sandbox.degraded',
      'sandbox.net', // connect
      'sandbox.fs', // exec
      'sandbox.limit',
      'sandbox.folded',
      'sandbox.fs', // read
      'sandbox.fs', // read of a directory of the system
      'sandbox.exec',
      'sandbox.exec',
      'sandbox.fs', // write
      'sandbox.fs',
      'sandbox.fs',
      'sandbox.fs', // read of a file there
      'sandbox.change',
      'sandbox.coverage',
      'sandbox.summary',
      'coding_agent.evidence_pack.v0',
      'profile.finished',
    ]);
  });

  it('makes a bundle that verifies, its run digest made again from the events', async () => {
    const { manifest, events } = await bundleOf(makeRun());
    expect(manifest.event_count).toBe(events.length);
    expect(manifest.sandbox?.run_digest).toContain(manifest.run_id.replace('sandbox_', 'sha256:'));
  });

  it('differs between equal runs in times only', async () => {
    const mine = await bundleOf(makeRun());
    const { events, ...other } = makeRun(
      { startedMs: 5000, launchedMs: 6000, endedMs: 90_000, uid: 7, pids: [] },
      '/srv/build/9',
      '/home/bob',
    );
    const theirs = await bundleOf({
      ...other,
      events: events.map((event) => ('atMs' in event ? { ...event, atMs: 1 } : event)),
    });
    const timeless = ({ time: _, ...rest }: BundleEvent): object => rest;
    expect(theirs.events.map(timeless)).toEqual(mine.events.map(timeless));
    expect(theirs.manifest.run_root).toBe(mine.manifest.run_root);
    const { files, seal } = mine.manifest;
    expect({ ...theirs.manifest, files, seal }).toEqual(mine.manifest);
    expect(theirs.events.map(({ time }) => time)).not.toEqual(mine.events.map(({ time }) => time));
  });

  it('has another root when something else happened', async () => {
    const { manifest } = await bundleOf(makeRun());
    const { events, ...rest } = makeRun();
    const other = await bundleOf({ ...rest, events: events.slice(1) });
    expect(other.manifest.run_root).not.toBe(manifest.run_root);
  });

  it('has the time of the first sighting, between start and end', () => {
    const events = draftEvents(
      makeRun({
        events: [
          file('write', `${CWD}/a`, { atMs: 900 }),
          file('truncate', `${CWD}/a`, { atMs: 300 }),
          file('unlink', `${CWD}/b`, { atMs: 4_000_000 }),
        ],
        launchedMs: NOON_MS + 20,
      }),
    );
    const timeOf = (path: string): string | undefined =>
      events.find(({ subject, type }) => subject === path && type === 'assay.sandbox.fs')?.time;
    expect(timeOf('${CWD}/a')).toBe('2026-11-15T12:00:00.320Z');
    expect(timeOf('${CWD}/b')).toBe('2026-11-15T12:00:05.000Z');
    expect(events[0]?.time).toBe('2026-11-15T12:00:00.000Z');
    expect(events.at(-1)?.time).toBe('2026-11-15T12:00:05.000Z');
  });

  it('says who refused what, and what was read of the system', () => {
    const lines = listLines(draftEvents(makeRun()));
    expect(lines).toContainEqual(
      expect.objectContaining({
        op: 'write',
        path: '${HOME}/.bashrc',
        outcome: 'EACCES',
        program: '/usr/bin/make',
        refused_by: 'fs.protect: ~/.bashrc',
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ op: 'connect', path: 'tcp:10.0.0.1:443', refused_by: '' }),
    );
    expect(lines.filter(({ system }) => system === true)).toEqual([
      expect.objectContaining({ op: 'read', path: '/usr/lib/libm.so' }),
    ]);
    expect(lines.find(({ op, program: by }) => op === 'run' && by === 'assay')).toMatchObject({
      argv0: '/usr/bin/make',
      image_digests: [`sha256:${'ab'.repeat(32)}`],
    });
  });

  it('does not grow with the square of how often an image was changed and run', () => {
    const digests = Array.from({ length: 20 }, (_, at) => String(at).padStart(64, '0'));
    const programs = digests.flatMap((digest, at) => [
      program(2 * at + 2, `${CWD}/tool`, { parent: 1, digest }),
      program(2 * at + 3, '/opt/tool', { parent: 1, digest }),
    ]);
    const lines = listLines(
      draftEvents(makeRun({ programs: [program(1, '/usr/bin/make'), ...programs] })),
    );
    const own = lines.filter(({ op, path }) => op === 'run' && path === '${CWD}/tool');
    expect(own.map(({ image_digests: images }) => images)).toEqual(
      digests.map((digest) => [`sha256:${digest}`]),
    );
    expect(lines.filter(({ op, path }) => op === 'run' && path === '/opt/tool')).toMatchObject([
      {
        image_digests: digests.slice(0, 16).map((digest) => `sha256:${digest}`),
        image_digests_omitted: 4,
      },
    ]);
  });

  it('can be verified whatever the names are', async () => {
    const long = `/opt${`/${'\u0001'.repeat(255)}`.repeat(15)}`;
    const events = Array.from({ length: 600 }, (_, at) =>
      file('read', `${long.slice(0, 516)}/${String.fromCodePoint(0x4e00 + at)}`, { program: 2 }),
    );
    const { manifest } = await bundleOf(
      makeRecord(events, { programs: [program(1, '/usr/bin/make'), program(2, long)] }),
      // As if there were many more of them.
      { ratioFromBytes: 0 },
    );
    expect(manifest.event_count).toBeGreaterThan(600);
  });

  it('can be counted by readers of the older format', () => {
    const events = draftEvents(makeRun());
    const count = (type: string): number =>
      events.filter((event) => event.type === `assay.sandbox.${type}`).length;
    expect(events.find(({ type }) => type === 'assay.sandbox.summary')?.data).toMatchObject({
      command: ['make', 'all'],
      fs_count: count('fs'),
      exec_count: count('exec'),
      net_count: count('net'),
      refusal_count: 2,
      degradation_count: count('degraded'),
    });
    expect(count('degraded')).toBe(2);
    expect(events.at(-1)?.data).toMatchObject({ processes_count: 2, sandbox_degradation_count: 2 });
  });

  it('holds no count of sightings, no process number and no real directory', async () => {
    const { events } = await bundleOf(makeRun());
    const text = JSON.stringify(events.map(({ data, subject }) => [data, subject]));
    expect(text).not.toMatch(/\/home\/me|\/tmp\/private|"count"|atMs|"pid"/);
  });

  it.each([
    ['a line feed', 'a\nb'],
    ['bytes that are no UTF-8', 'caf\\xe9'],
    ['four KiB', 'x'.repeat(4000)],
    ['half of a pair, as its bytes', '\\xed\\xa0\\x80'],
    ['control characters', '\u0001\u001B[31m\u007F'],
    ['what every object has', '__proto__'],
    ['markup', '<script>alert(1)<'],
  ])('represents a name with %s', async (_, name) => {
    const { events } = await bundleOf(makeRun({ events: [file('create', `${CWD}/${name}`)] }));
    expect(listLines(events)).toContainEqual(
      expect.objectContaining({ op: 'write', path: `\${CWD}/${name}` }),
    );
  });

  it('cuts a command that is too long, and says what the rest was', async () => {
    const command = ['node', ...Array.from({ length: 40 }, () => '\u0007'.repeat(50_000))];
    const [started] = (await bundleOf(makeRun({ command }))).events;
    const told = (started?.data as { command: string[] } | undefined)?.command ?? [];
    const rest = command.slice(told.length - 1);
    expect(told.slice(0, -1)).toEqual(command.slice(0, told.length - 1));
    expect(told.at(-1)).toBe(`[and ${rest.length} more, sha256:${sha256Hex(canonicalJson(rest))}]`);
  });
});

describe('the pack for reviews of coding agents', () => {
  const packOf = (more: Partial<RunRecord>): CodingAgentPack =>
    draftEvents(makeRun(more)).at(-2)?.data as CodingAgentPack;
  const surface = (status: 'partial' | 'absent'): RunRecord['coverage']['reads'] => ({
    status,
    reasons: [],
  });

  it('has every field of the format', () => {
    expect(packOf({})).toEqual({
      declared_scope: {
        allowed_files: ['${CWD}'],
        allowed_commands: ['make'],
        network: 'denied',
        allowed_mcp_tools: [],
        authorized: false,
      },
      observed_effects: {
        files_changed: ['${CWD}/out/a.o'],
        commands_executed: ['/usr/bin/gcc', '/usr/bin/make'],
        network_attempts: ['tcp:10.0.0.1:443'],
        mcp_tool_calls: [],
        test_observed: false,
      },
      coverage: {
        files: 'observed',
        commands: 'observed',
        network: 'observed',
        mcp_tools: 'absent',
        test: 'absent',
      },
      source_class: 'boundary_observed',
      non_claims: [
        'does_not_prove_code_correctness',
        'does_not_prove_agent_intent',
        'does_not_replace_human_review',
      ],
    });
  });

  it.each([
    [{ reads: surface('partial') }, { files: 'partial', network: 'observed' }],
    [{ reads: surface('absent'), changes: surface('partial') }, { files: 'absent' }],
    [{ changes: surface('absent') }, { files: 'absent', commands: 'observed' }],
    [{ network: surface('partial') }, { network: 'partial', files: 'observed' }],
    [{ programs: surface('absent') }, { commands: 'absent' }],
  ])('claims no more than was watched: %j', (coverage, expected) => {
    const whole = makeRun().coverage;
    expect(packOf({ coverage: { ...whole, ...coverage } }).coverage).toMatchObject(expected);
  });

  it('covers files in part when their list is cut short', () => {
    const paths = Array.from({ length: 20_000 }, (_, index) => `${CWD}/src/module-${index}.js`);
    const { coverage, observed_effects } = packOf({
      events: paths.map((path) => file('create', path)),
      finalStates: new Map(paths.map((path) => [path, 'changed'])),
    });
    expect(coverage.files).toBe('partial');
    expect(observed_effects.files_changed.length).toBeGreaterThan(1000);
    expect(JSON.stringify(observed_effects).length).toBeLessThan(1_000_000);
  });

  it('says whether the policy allows the whole network, whatever network a dry run has', () => {
    const { content } = generaliseRun(makeRun({ network: 'host' }), { name: 'x' });
    const scopeOf = (text: string): unknown =>
      makeCodingAgentPack(content, {
        fs: [],
        net: [{ effect: 'allow', text }],
      } as unknown as EffectivePolicy).declared_scope.network;
    expect([scopeOf('*'), scopeOf('127.0.0.1')]).toEqual(['allowed', 'denied']);
  });
});
