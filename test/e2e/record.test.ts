import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename } from 'node:path';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { toPrintable } from '../../src/core/printable.ts';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { PYTHON, runAssay } from './run-assay.ts';

interface Evidence {
  readonly run_ids: readonly string[];
  readonly end: Record<string, unknown>;
  readonly changes: Record<'created' | 'modified' | 'removed', readonly string[]>;
  readonly coverage: Record<string, { readonly status: string }>;
  readonly refusals: readonly Record<string, unknown>[];
  readonly counters: Record<string, number>;
  readonly controls: { readonly configuration: { readonly used: readonly string[] } };
  readonly policy: { readonly name: string };
  readonly run: { readonly built_digests: Record<string, readonly string[]> };
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
      flags: [
        ...(flags.includes('--policy') ? [] : ['--preset', 'coding-agent']),
        '--profile',
        `${out}/run.profile.yaml`,
        ...flags,
      ],
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
    ['the report is the policy', ['--profile', 'p', '--profile-report', './p'], 'another artifact'],
    [
      'the report is the evidence',
      ['--profile', 'p', '--profile-report', 'p.evidence.yaml'],
      'another artifact',
    ],
    ['the stream is the policy', ['--profile', 'p', '--json', 'p'], 'another artifact'],
    ['there is a report of no profile', ['--profile-report', 'p.md'], 'without --profile'],
    ['there is a format of no profile', ['--profile-format', 'json'], 'without --profile'],
    ['the stream goes to a descriptor of our own', ['--json', 'fd:7'], 'no such descriptor'],
  ])('is refused, and nothing written or run, when %s', async (_, flags, problem) => {
    const place = makePlace();
    fs.writeFileSync(`${place.work}/p`, 'old\n');
    const { code, stderr } = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', ...flags],
      command: ['/bin/sh', '-c', 'touch ran'],
    });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(problem);
    expect(fs.readdirSync(place.work)).toEqual(['p']);
    expect(place.read('work/p')).toBe('old\n');
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

  it('tells of a file that could not be made, for its name has a slash behind it', async () => {
    const place = makePlace();
    const open = "import os; os.open('born/', os.O_CREAT | os.O_WRONLY)";
    const json = `${place.makeDir('out')}/run.ndjson`;
    await run(place, `python3 -c "${open}"`, '--json', json);
    expect(readLines(place, 'out/run.ndjson')).toContainEqual(
      expect.objectContaining({ op: 'write', path: `${place.work}/born`, outcome: 'EISDIR' }),
    );
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
    // What it made later was not out of sight, only not there yet.
    await run(place, 'cat ~/.ssh/id_rsa ~/.ssh/none born "$PWD/born"; echo x > born');
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
    expect(readEvidence(place).counters).toEqual({ refusals: 0 });
  });

  it('says that nothing was watched where no broker can be', async () => {
    const place = makePlace();
    const { stderr } = await run(place, 'echo a > new', '--layers=-broker');
    expect(stderr).toContain('the program was not watched');
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

  it('counts the configuration of an old repository as configuration, and of a new one not', async () => {
    const place = makePlace();
    const used = async (script: string): Promise<readonly string[]> => {
      await run(place, script, '--allow-write', '.git/config', '--allow-write', '.git/config.lock');
      return readEvidence(place).controls.configuration.used;
    };
    fs.mkdirSync(`${place.work}/.git/objects`, { recursive: true });
    fs.mkdirSync(`${place.work}/.git/refs`);
    place.write('work/.git/HEAD', 'ref: refs/heads/main\n');
    place.write('work/.git/config', '');
    expect(await used('git init -q new; git -C new config a.b c')).toEqual([]);
    expect(await used('git config a.b c')).toEqual(['${CWD}/.git/config']);
  });

  it('has as many files as there are, whatever is hidden in their names', async () => {
    const place = makePlace();
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4';
    place.write(`work/old/${token}z`, 'x\n');
    await run(
      place,
      `for i in a b c; do echo x > ${token}$i; echo x > password=hunter2$i; done; mv old new`,
    );
    const { changes } = readEvidence(place);
    expect(changes.created).toHaveLength(8);
    expect(changes.created.filter((path) => path.includes('[redacted'))).toHaveLength(7);
    for (const name of fs.readdirSync(place.at('out')))
      expect(place.read(`out/${name}`)).not.toContain(token);
  });

  it.each([
    ['with doors', ['--allow-net', 'example.org:443']],
    ['without any', []],
  ])('has what was refused of the network in the summary, too, %s', async (_, net) => {
    const place = makePlace();
    const reach = `import socket; socket.socket().connect_ex(('192.0.2.7', 443))`;
    await runAssay({
      place,
      flags: [...net, '-q', '--preset', 'coding-agent', '--json', place.at('events.ndjson')],
      command: [PYTHON, '-c', reach],
    });
    expect(readLines(place, 'events.ndjson').at(-1)).toMatchObject({
      refusalCount: 1,
      refusals: [{ op: 'connect', path: 'tcp:192.0.2.7:443', rule: null }],
    });
  });

  it('does not depend on where the policy lies', async () => {
    const place = makePlace();
    place.write('elsewhere/strict.yaml', 'api_version: assay/v1\nextends: [coding-agent]\n');
    await run(place, 'true', '--policy', place.at('elsewhere/strict.yaml'));
    expect(readEvidence(place).policy.name).toBe('strict.yaml');
  });

  it('has the digest of each program that has run under one name', async () => {
    const place = makePlace();
    await run(place, 'cp /bin/true t; ./t; cp /bin/echo t2; mv t2 t; ./t');
    const digests = ['/bin/true', '/bin/echo'].map(
      (image) => `sha256:${createHash('sha256').update(fs.readFileSync(image)).digest('hex')}`,
    );
    const { run: facts } = readEvidence(place);
    expect(facts.built_digests[place.at('work/t')]).toEqual(digests.sort());
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
    ['a control character', String.raw`a\033b`, 'a\u001bb'],
    ['what looks like one in a report', String.raw`a\\u001bb`, String.raw`a\\u001bb`],
    ['a backslash before one', String.raw`a\\\033b`, 'a\\\\\u001bb'],
  ])(
    'has one spelling for a name with %s, and a policy that holds',
    async ([, printed, name = '']) => {
      const place = makePlace();
      place.makeDir('work/dir');
      const script = `name=$(printf '${printed}'); echo x > "dir/$name" && cat "dir/$name"`;
      expect((await run(place, script, '--json', place.at('out/stream'))).stdout).toBe('x\n');
      const line = readLines(place, 'out/stream').find(({ op }) => op === 'create');
      expect(line).toMatchObject({ path: `${place.work}/dir/${name}` });
      const { changes, entries } = readEvidence(place);
      expect(changes.created).toEqual([`\${CWD}/dir/${name}`]);
      expect(Object.keys(entries.files)).toContain(`\${CWD}/dir/${name}`);
      expect(place.read('out/run.profile.yaml.report.md')).toContain(`\`${toPrintable(name)}\``);
      const flags = ['--policy', place.at('out/run.profile.yaml')];
      const again = await runAssay({ place, flags, command: ['/bin/sh', '-c', script] });
      expect(again).toMatchObject({ code: 0, stdout: 'x\n' });
    },
  );

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
