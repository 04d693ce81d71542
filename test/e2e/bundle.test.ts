import { createHash } from 'node:crypto';
import * as fs from 'node:fs';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import type { BundleEvent } from '../../src/evidence/bundle/bundle.ts';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { dataOf, readBundle, type ReadBundle } from './read-bundle.ts';
import { ASSAY, type Outcome, PYTHON, readSummary, runAssay, runBare } from './run-assay.ts';

describeForEachPerson('the bundle', (person) => {
  const makePlace = usePlaces(person);

  const run = async (place: Place, script: string, ...flags: string[]): Promise<Outcome> => {
    const out = place.makeDir('out');
    return await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', `${out}/run.bundle.tar.gz`, ...flags],
      command: ['/bin/sh', '-c', script],
    });
  };
  const read = (place: Place): Promise<ReadBundle> => readBundle(place.at('out/run.bundle.tar.gz'));

  it('is there, intact, readable by its owner alone, and tells of the run', async () => {
    const place = makePlace();
    const outcome = await run(place, 'echo a > new; ls /usr > /dev/null; exit 3');
    expect(outcome.code).toBe(3);
    const bundle = await read(place);
    const { manifest, events } = bundle;
    const path = place.at('out/run.bundle.tar.gz');
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(place.at('out'))).toEqual(['run.bundle.tar.gz']);
    expect(outcome.stderr).toContain(
      `assay: ${manifest.run_id}\nassay: wrote ${path}\nassay: bundle ${manifest.bundle_id}\n`,
    );
    expect(manifest.sandbox).toMatchObject({ mode: 'containment', level: 'all' });
    expect(dataOf(bundle, 'fs')).toContainEqual(
      expect.objectContaining({ op: 'write', path: '${CWD}/new', outcome: 'ok' }),
    );
    expect(dataOf(bundle, 'fs').some(({ system }) => system === true)).toBe(true);
    expect(dataOf(bundle, 'change')).toEqual([{ change: 'created', path: '${CWD}/new' }]);
    expect(dataOf(bundle, 'exec').map(({ argv0 }) => argv0)).toContain('/usr/bin/ls');
    expect(events.at(-1)?.data).toMatchObject({ end: { exit_code: 3 } });
    const times = events.map(({ time }) => Date.parse(time));
    expect(Math.min(...times)).toBe(times[0]);
    expect(Math.max(...times)).toBe(times.at(-1));
  });

  it('has the times at which things were first seen', async () => {
    const place = makePlace();
    await run(place, 'echo a > first; sleep 0.6; echo b > second; sleep 0.3');
    const { events } = await read(place);
    const timeOf = (path: string): number =>
      Date.parse(
        events.find(({ subject, type }) => subject === path && type.endsWith('.fs'))?.time ?? '',
      );
    const between = timeOf('${CWD}/second') - timeOf('${CWD}/first');
    expect(between).toBeGreaterThanOrEqual(590);
    expect(Date.parse(events.at(-1)?.time ?? '') - timeOf('${CWD}/second')).toBeGreaterThan(290);
  });

  it('goes with --profile, and has the same run id', async () => {
    const place = makePlace();
    const profile = place.at('out/run.profile.yaml');
    await run(place, 'echo a > new', '--profile', profile);
    const evidence = parse(place.read('out/run.profile.evidence.yaml')) as Record<string, object>;
    const { manifest } = await read(place);
    expect(evidence['run_ids']).toEqual([manifest.run_id]);
    expect(evidence['run']).toMatchObject({ run_digest: manifest.sandbox?.run_digest });
    expect(fs.readdirSync(place.at('out'))).toHaveLength(4);
  });

  it('is named by --json with its id and the digest of the file', async () => {
    const place = makePlace();
    await run(place, 'true', '--json', place.at('summary.json'));
    const { manifest, sha256 } = await read(place);
    const path = place.at('out/run.bundle.tar.gz');
    expect(sha256).toBe(createHash('sha256').update(fs.readFileSync(path)).digest('hex'));
    expect(readSummary(place.read('summary.json'))).toMatchObject({
      runId: manifest.run_id,
      bundle: { path, bundleId: manifest.bundle_id, sha256 },
    });
  });

  it.each([
    ['timed out', 'echo a > new; sleep 30', ['--timeout', '500ms'], 124, { timed_out: true }],
    ['was killed', 'echo a > new; kill -9 $$', [], 137, { signal: 9 }],
    ['broke a limit', 'echo a > new; while :; do :; done', ['--limit-cpu', '1s'], 137, {}],
    ['would be refused', 'echo a > new; echo b > ~/x', ['--dry-run'], 4, { exit_code: 0 }],
  ])('is there after a run that %s', async (_, script, flags, code, end) => {
    const place = makePlace();
    expect((await run(place, script, ...flags)).code).toBe(code);
    const bundle = await read(place);
    expect(bundle.manifest.sandbox?.end).toMatchObject(end);
    expect(dataOf(bundle, 'change')).toContainEqual({ change: 'created', path: '${CWD}/new' });
  });

  it('does not say of a dry run, which has the network of the host, that nothing got out', async () => {
    const place = makePlace();
    await run(place, 'true', '--dry-run');
    const bundle = await read(place);
    expect(bundle.manifest.sandbox?.coverage).toMatchObject({ network: 'partial' });
    expect(dataOf(bundle, 'summary')).toMatchObject([
      { statements: expect.not.arrayContaining(['No network connection was made.']) as string[] },
    ]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('is there after %s to assay', async (signal) => {
    const place = makePlace();
    const out = place.makeDir('out');
    // A signal while the bundle is being written must not cost it either.
    const { code } = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', `${out}/run.bundle.tar.gz`],
      command: ['/bin/sh', '-c', 'echo a > new; echo ready; exec sleep 30'],
      onOutput: (text, child) => {
        if (!text.includes('ready')) return;
        child.kill(signal);
        for (const ms of [20, 40, 60, 80, 120, 160]) setTimeout(() => child.kill(signal), ms);
      },
    });
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(dataOf(await read(place), 'change')).toEqual([
      { change: 'created', path: '${CWD}/new' },
    ]);
  });

  it('has what was refused, with the rule', async () => {
    const place = makePlace();
    await run(place, 'echo x > .bashrc; echo x > keep.pem; true', '--deny', '**/*.pem');
    const bundle = await read(place);
    expect(dataOf(bundle, 'fs')).toContainEqual(
      expect.objectContaining({
        op: 'write',
        path: '${CWD}/keep.pem',
        outcome: 'EACCES',
        refused_by: '--deny fs.deny: **/*.pem',
      }),
    );
    expect(dataOf(bundle, 'summary')).toMatchObject([{ refusal_count: 2 }]);
  });

  it('has what packs for pipelines ask for: a start, an end, and which assay it was', async () => {
    const place = makePlace();
    await run(place, 'true');
    const { events, manifest } = await read(place);
    expect(events[0]).toMatchObject({
      type: 'assay.profile.started',
      data: { version: manifest.producer.version, command: ['/bin/sh', '-c', 'true'] },
    });
    expect(events.at(-1)?.type).toBe('assay.profile.finished');
  });

  it('is known by its policy elsewhere, and not by another one', async () => {
    const place = makePlace();
    const out = place.makeDir('out');
    const text = 'api_version: assay/v1\nextends: [coding-agent]\nfs: { read: [~/.gitconfig] }\n';
    const mine = place.write('work/mine.yaml', text);
    const same = place.write('out/same.yaml', `# the same\n${text}`);
    const other = place.write('out/other.yaml', text.replace('read', 'write'));
    const bundle = `${out}/run.bundle.tar.gz`;
    const verify = async (policy: string): Promise<number | null> => {
      const command = [ASSAY, 'evidence', 'verify', bundle, '--policy', policy];
      return (await runBare({ place, command, cwd: out, env: { HOME: '/nonexistent' } })).code;
    };
    await runAssay({ place, flags: ['--policy', mine, '--bundle', bundle], command: ['true'] });
    expect(await verify(same)).toBe(10);
    expect(await verify(other)).toBe(12);
    const flags = ['--policy', mine, '--deny', '*.pem', '--bundle', bundle];
    await runAssay({ place, flags, command: ['true'] });
    expect(await verify(same)).toBe(12);
  });

  it('holds no secret of the command line or the environment', async () => {
    const place = makePlace();
    const out = place.makeDir('out');
    await runAssay({
      place,
      flags: ['--env-allow', 'MY_TOKEN', '--bundle', `${out}/run.bundle.tar.gz`],
      command: ['/bin/sh', '-c', 'true', '--token=hunter2-secret', 'https://me:passw0rd@host/'],
      env: { MY_TOKEN: 'ghp_0123456789abcdefghijABCDEFGHIJ012345' },
    });
    const bundle = await read(place);
    const text = JSON.stringify(bundle.events);
    expect(text).not.toMatch(/hunter2-secret|passw0rd|ghp_0123456789/);
    expect(bundle.events[0]?.data).toMatchObject({
      command: expect.arrayContaining(['/bin/sh', expect.stringMatching(/^--token=/)]),
    });
    expect(dataOf(bundle, 'environment')[0]?.['passed']).toContain('MY_TOKEN');
  });

  it('represents whatever name a program makes up', async () => {
    const place = makePlace();
    const out = place.makeDir('out');
    const script = [
      'import os',
      'names = [b"a\\nb", b"caf\\xe9", b"\\xed\\xa0\\x80", b"x" * 250, b"\\x01\\x1b[31m", b"__proto__"]',
      'for name in names: open(name, "w").close()',
      'deep = "/".join(["y" * 200] * 19)',
      'os.makedirs(deep)',
      'open(deep + "/" + "z" * 200, "w").close()',
    ].join('\n');
    const { code } = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', `${out}/run.bundle.tar.gz`],
      command: [PYTHON, '-c', script],
    });
    expect(code).toBe(0);
    const paths = dataOf(await read(place), 'change').map(({ path }) => String(path));
    for (const name of ['a\nb', 'x'.repeat(250), '\u0001\u001B[31m', '__proto__'])
      expect(paths).toContain(`\${CWD}/${name}`);
    expect(paths.filter((path) => /\\xe9|\\xed\\+xa0\\+x80/.test(path))).toHaveLength(2);
    expect(paths.some((path) => path.length > 4000)).toBe(true);
  });

  it('cannot be touched by the run, where it lies in the workspace', async () => {
    const place = makePlace();
    const { code, stderr } = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', 'run.bundle.tar.gz'],
      command: ['/bin/sh', '-c', 'echo forged > run.bundle.tar.gz; ln -s /etc run.bundle.tar.gz'],
    });
    expect(code, stderr).not.toBe(0);
    const bundle = await readBundle(`${place.work}/run.bundle.tar.gz`);
    expect(dataOf(bundle, 'fs')).toContainEqual(
      expect.objectContaining({ path: '${CWD}/run.bundle.tar.gz', outcome: 'EACCES' }),
    );
  });

  it('stays as it was until the new one is complete', async () => {
    const place = makePlace();
    place.write('out/run.bundle.tar.gz', 'old\n');
    const { stderr } = await runAssay({
      place,
      flags: [
        '--fail-closed',
        '--layers',
        'rlimits',
        '--bundle',
        place.at('out/run.bundle.tar.gz'),
      ],
      command: ['true'],
    });
    expect(stderr).toContain('not written: nothing was executed');
    expect(place.read('out/run.bundle.tar.gz')).toBe('old\n');
  });

  it.each([
    ['a directory that is not there', 'none/run.tar.gz', [], 'no such file'],
    ['a directory', '.', [], 'it is a directory'],
    ['a file of the profile', 'p.yaml', ['--profile', 'p.yaml'], 'another artifact'],
    ['the report', 'p.md', ['--profile', 'p', '--profile-report', './p.md'], 'another artifact'],
  ])('is refused before the run for %s', async (_, target, flags, problem) => {
    const place = makePlace();
    const { code, stderr } = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', target, ...flags],
      command: ['/bin/sh', '-c', 'touch ran'],
    });
    expect(code).toBe(2);
    expect(stderr.toLowerCase()).toContain(`cannot write the evidence bundle to "${target}"`);
    expect(stderr).toContain(problem);
    expect(fs.existsSync(`${place.work}/ran`)).toBe(false);
  });

  it('that cannot be written costs no other artifact', async () => {
    const place = makePlace();
    const out = place.makeDir('out');
    const gone = place.makeDir('gone');
    const { code, stderr } = await runAssay({
      place,
      flags: ['--profile', `${out}/p.yaml`, '--bundle', `${gone}/run.bundle.tar.gz`],
      command: ['/bin/sh', '-c', 'echo ready; sleep 1'],
      onOutput: (text) => {
        if (text.includes('ready')) fs.rmSync(gone, { recursive: true, force: true });
      },
    });
    expect(code).toBe(3);
    expect(stderr).toContain('Cannot write the evidence bundle');
    expect(fs.readdirSync(out)).toHaveLength(3);
  });

  it('has an equal root for an equal run elsewhere, and differs in times only', async () => {
    const script = 'mkdir -p src; echo a > src/a; cat src/a > /dev/null; mktemp > /dev/null';
    const bundles = [];
    for (const under of ['', 'further/down/']) {
      const place = makePlace();
      const cwd = place.makeDir(`work/${under}checkout`);
      const out = place.makeDir('out');
      await runAssay({
        place,
        cwd,
        flags: ['--preset', 'coding-agent', '--bundle', `${out}/run.bundle.tar.gz`],
        command: ['/bin/sh', '-c', script],
      });
      bundles.push(await read(place));
    }
    const [mine, theirs] = bundles;
    const timeless = ({ time: _, ...rest }: BundleEvent): object => rest;
    expect(theirs?.events.map(timeless)).toEqual(mine?.events.map(timeless));
    expect(theirs?.manifest.run_root).toBe(mine?.manifest.run_root);
    expect(theirs?.sha256).not.toBe(mine?.sha256);
  });
});
