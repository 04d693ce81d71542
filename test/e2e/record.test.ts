import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename } from 'node:path';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { runAssay } from './run-assay.ts';

interface Evidence {
  readonly run_ids: readonly string[];
  readonly end: Record<string, unknown>;
  readonly changes: Record<'created' | 'modified' | 'removed', readonly string[]>;
  readonly coverage: Record<string, { readonly status: string }>;
  readonly refusals: readonly Record<string, unknown>[];
  readonly entries: {
    readonly files: Record<string, Record<string, unknown>>;
    readonly processes: Record<string, { readonly digests: readonly string[] }>;
  };
}

interface Line {
  readonly type: string;
  readonly kind?: string;
  readonly op?: string;
  readonly path?: string;
  readonly outcome?: string;
}

describeForEachPerson('the record', (person) => {
  const makePlace = usePlaces(person);

  const run = async (place: Place, script: string, ...flags: string[]) => {
    const out = place.makeDir('out');
    const outcome = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--profile', `${out}/run.profile.yaml`, ...flags],
      command: ['/bin/sh', '-c', script],
    });
    return outcome;
  };
  const readEvidence = (place: Place): Evidence =>
    parse(place.read('out/run.profile.evidence.yaml')) as Evidence;
  const readLines = (place: Place, file: string): Line[] =>
    place
      .read(file)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  it('--profile leaves a policy, evidence and a report, readable by their owner alone', async () => {
    const place = makePlace();
    const outcome = await run(place, 'echo a > new; exit 3');
    expect(outcome.code).toBe(3);
    const evidence = readEvidence(place);
    expect(evidence.run_ids[0]).toMatch(/^sandbox_[0-9a-f]{16}$/);
    expect(evidence.changes).toMatchObject({ created: ['${CWD}/new'], modified: [], removed: [] });
    expect(evidence.end).toMatchObject({ exit_code: 3 });
    expect(outcome.stderr).toContain(`assay: ${evidence.run_ids[0]}\n`);
    expect(parse(place.read('out/run.profile.yaml'))).toMatchObject({ api_version: 'assay/v1' });
    expect(place.read('out/run.profile.yaml.report.md')).toContain(evidence.run_ids[0]);
    for (const name of fs.readdirSync(place.at('out'))) {
      expect(fs.statSync(place.at(`out/${name}`)).mode & 0o777, name).toBe(0o600);
      expect(outcome.stderr).toContain(`wrote ${place.at(`out/${name}`)}\n`);
    }
    expect(fs.readdirSync(place.at('out'))).toHaveLength(3);
  });

  it('--profile-format and --profile-report name the files', async () => {
    const place = makePlace();
    const report = place.at('out/why.md');
    await run(place, 'true', '--profile-format', 'json', '--profile-report', report);
    expect(fs.readdirSync(place.at('out')).sort()).toEqual([
      'run.profile.evidence.json',
      'run.profile.yaml',
      basename(report),
    ]);
    expect(JSON.parse(place.read('out/run.profile.evidence.json'))).toHaveProperty('run_ids');
  });

  it.each([
    ['timed out', 'echo a > new; sleep 30', ['--timeout', '500ms'], 124, { timed_out: true }],
    ['was killed', 'echo a > new; kill -9 $$', [], 137, { signal: 9 }],
    ['broke a limit', 'echo a > new; while :; do :; done', ['--limit-cpu', '1s'], 137, {}],
  ])('is there after a run that %s', async (_, script, flags, code, end) => {
    const place = makePlace();
    expect((await run(place, script, ...flags)).code).toBe(code);
    expect(readEvidence(place).changes.created).toEqual(['${CWD}/new']);
    expect(readEvidence(place).end).toMatchObject(end);
  });

  it('is there for a command that does not exist, and says so', async () => {
    const place = makePlace();
    const out = place.makeDir('out');
    const flags = ['-q', '--profile', `${out}/run.profile.yaml`];
    const { code } = await runAssay({ place, flags, command: ['no-such-program'] });
    expect(code).toBe(127);
    expect(readEvidence(place).end).toMatchObject({ exit_code: 127 });
  });

  it('names the rule of what was refused', async () => {
    const place = makePlace();
    await run(place, 'echo x > .bashrc; echo x > keep.pem; true', '--deny', '**/*.pem');
    const refusals = readEvidence(place).refusals;
    expect(refusals).toContainEqual(
      expect.objectContaining({
        subject: '${CWD}/keep.pem',
        rule: expect.stringContaining('--deny'),
      }),
    );
    expect(refusals).toContainEqual(expect.objectContaining({ subject: '${CWD}/.bashrc' }));
  });

  it('says what the program looked for and was not shown', async () => {
    const place = makePlace();
    const secret = place.write('home/.ssh/id_rsa', 'key\n');
    await run(place, 'cat ~/.ssh/id_rsa ~/.ssh/none; true');
    const report = place.read('out/run.profile.yaml.report.md');
    expect(report).toContain('1 file it looked for was out of its sight');
    expect(report).toContain(secret);
    expect(report).not.toContain('.ssh/none` ');
  });

  it('--observe says what is watched, and the coverage what is not', async () => {
    const place = makePlace();
    place.write('work/input', 'x\n');
    const level = async (...flags: string[]): Promise<[unknown, string | undefined]> => {
      await run(place, 'cat input; echo a > new; rm new', '-q', ...flags);
      const { entries, coverage } = readEvidence(place);
      return [entries.files['${CWD}/input'], coverage['reads']?.status];
    };
    expect(await level()).toEqual([expect.anything(), 'complete']);
    expect(await level('--observe', 'effects')).toEqual([undefined, 'absent']);
    expect(await level('--observe', 'none')).toEqual([undefined, 'absent']);
    expect(readEvidence(place).coverage['changes']?.status).toBe('absent');
  });

  it('says that nothing was watched where no broker can be', async () => {
    const place = makePlace();
    await run(place, 'echo a > new', '-q', '--layers=-broker');
    expect(readEvidence(place).coverage['changes']?.status).toBe('absent');
    expect(place.read('out/run.profile.yaml.report.md')).toContain('--layers');
  });

  it('has the digest of a program that was made, run and removed', async () => {
    const place = makePlace();
    await runAssay({
      place,
      flags: ['-q', '--preset', 'coding-agent', '--json', place.at('events.ndjson')],
      command: ['/bin/sh', '-c', 'cp /bin/true ./mine && ./mine && rm mine'],
    });
    const lines = readLines(place, 'events.ndjson');
    const digest = createHash('sha256').update(fs.readFileSync('/bin/true')).digest('hex');
    expect(lines).toContainEqual(
      expect.objectContaining({ type: 'program', image: place.at('work/mine'), digest }),
    );
  });

  it('--json streams each thing once while the program runs, and ends with a summary', async () => {
    const place = makePlace();
    const file = place.at('events.ndjson');
    let early: Line[] = [];
    await runAssay({
      place,
      flags: ['-q', '--preset', 'coding-agent', '--json', file],
      command: ['/bin/sh', '-c', 'echo a > new; echo b > new; sleep 1; echo ready; sleep 1'],
      env: { MY_TOKEN: 'hush' },
      onOutput: (text) => {
        if (text.includes('ready')) early = readLines(place, 'events.ndjson');
      },
    });
    const writes = (lines: readonly Line[]): Line[] =>
      lines.filter(({ path }) => path?.endsWith('/new') === true);
    expect(writes(early).map(({ op }) => op)).toEqual(['create', 'write']);
    const lines = readLines(place, 'events.ndjson');
    expect(writes(lines)).toEqual(writes(early));
    expect(lines.filter(({ type }) => type === 'program')).toHaveLength(2);
    expect(lines.at(-1)?.type).toBe('summary');
    expect(lines).toContainEqual(
      expect.objectContaining({ kind: 'environment', op: 'removed', name: 'MY_TOKEN' }),
    );
    expect(JSON.stringify(lines)).not.toContain('hush');
    expect(lines.filter(({ op }) => op === 'read')).toEqual([]);
  });

  it('lets the program go on when nobody takes the stream any more, and says so', async () => {
    const place = makePlace();
    const full = fs.openSync('/dev/full', 'w');
    try {
      const outcome = await runAssay({
        place,
        flags: ['-q', '--preset', 'coding-agent', '--json', 'fd:3'],
        command: ['/bin/sh', '-c', 'echo a > new; sleep 0.3; echo b > last'],
        extra: [full],
      });
      expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('ENOSPC') });
      expect(place.has('work/last')).toBe(true);
    } finally {
      fs.closeSync(full);
    }
  });

  it.each([
    ['a profile in no directory', ['--profile', '/no/such/dir/p.yaml'], '/no/such/dir/p.yaml'],
    ['a profile that is a directory', ['--profile', '/tmp'], '"/tmp"'],
    ['a level that there is not', ['--observe', 'some'], 'some'],
    ['a dry run that does not look', ['--dry-run', '--observe', 'none'], '--observe none'],
  ])('refuses %s before anything runs', async (_, flags, named) => {
    const place = makePlace();
    const outcome = await runAssay({ place, flags, command: ['touch', place.at('work/ran')] });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(named) });
    expect(place.has('work/ran')).toBe(false);
  });

  it.for([
    ['a backslash', String.raw`a\\b`, String.raw`a\b`],
    ['bytes that are no UTF-8', String.raw`caf\351`, String.raw`caf\xe9`],
    ['what looks like those', String.raw`caf\\xe9`, String.raw`caf\\xe9`],
    ['both', String.raw`\351\\`, String.raw`\xe9\\`],
  ])('has one spelling for a name with %s, and a policy that holds', async ([, printed, name]) => {
    const place = makePlace();
    place.makeDir('work/dir');
    const script = `name=$(printf '${printed}'); echo x > "dir/$name" && cat "dir/$name"`;
    expect((await run(place, script, '--json', place.at('out/stream'))).stdout).toBe('x\n');
    const line = readLines(place, 'out/stream').find(({ op }) => op === 'create');
    expect(line).toMatchObject({ path: `${place.work}/dir/${name}` });
    const { changes, entries } = readEvidence(place);
    expect(changes.created).toEqual([`\${CWD}/dir/${name}`]);
    expect(Object.keys(entries.files)).toContain(`\${CWD}/dir/${name}`);
    expect(place.read('out/run.profile.yaml.report.md')).toContain(`\`${name}\``);
    const flags = ['--policy', place.at('out/run.profile.yaml')];
    const again = await runAssay({ place, flags, command: ['/bin/sh', '-c', script] });
    expect(again).toMatchObject({ code: 0, stdout: 'x\n' });
  });

  it('has one line for all files without a name in a directory, and a policy that holds', async () => {
    const place = makePlace();
    place.makeDir('work/dir');
    const code = `import os
for _ in range(3): os.write(os.open('dir', os.O_TMPFILE | os.O_RDWR), b'x')
print('done')`;
    const script = `/usr/bin/python3 -c "${code}"`;
    expect((await run(place, script)).stdout).toBe('done\n');
    const { changes, entries } = readEvidence(place);
    expect(changes).toMatchObject({ created: [], modified: [], removed: [] });
    const names = Object.keys(entries.files).filter((name) => name.startsWith('${CWD}/dir'));
    expect(names).toEqual(['${CWD}/dir/#${N}']);
    const flags = ['--policy', place.at('out/run.profile.yaml'), '--fail-closed'];
    const again = await runAssay({ place, flags, command: ['/bin/sh', '-c', script] });
    expect(again).toMatchObject({ code: 0, stdout: 'done\n' });
  });

  it('says that there is no profile when nothing ran', async () => {
    const place = makePlace();
    const flags = ['--profile', place.at('p.yaml'), '--fail-closed', '--layers=-seccomp'];
    const outcome = await runAssay({ place, flags, command: ['true'] });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain(`--profile ${place.at('p.yaml')} not written`);
    expect(place.has('p.yaml')).toBe(false);
  });
});
