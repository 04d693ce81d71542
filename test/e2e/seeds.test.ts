import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeForEachPerson, type Person } from './as-user.ts';
import { makeCheckout, ROOT, type } from './command-blocks.ts';
import { type Place, usePlaces } from './place.ts';
import { dataOf, readBundle } from './read-bundle.ts';
import { PYTHON } from './run-assay.ts';

/** The commands as they are written in the documents after which this command line was made. */
const RECORD = `assay sandbox \\
  --profile run.profile.yaml \\
  --profile-report run.report.md \\
  -- <your coding-agent command> [args...]`;
const BUNDLE = `assay sandbox \\
  --profile run.profile.yaml \\
  --bundle run.bundle.tar.gz \\
  -- <your coding-agent command> [args...]`;
const LINT = 'assay evidence lint run.bundle.tar.gz';
const FAIL_CLOSED = 'assay sandbox --fail-closed -- ./server';
const COMMANDS = [RECORD, BUNDLE, LINT, FAIL_CLOSED];
/** The flags that their prose names. */
const FLAGS = ['--profile', '--profile-report', '--profile-format', '--bundle', '--policy'].concat(
  ['--dry-run', '--enforce', '--fail-closed', '--env-strict', '--env-strip-exec', '--env-allow'],
  ['--env-safe-path', '--env-passthrough'],
);
/** Those of node and Docker, which they name too. */
const FLAGS_OF_OTHERS = ['--require', '--runtime'];

/** The documents lie beside the checkout on some machines, and are no part of the repository. */
const SEEDS = join(ROOT, '../shared/seeds');
const isThere = existsSync(SEEDS);

it.skipIf(!isThere)(`the documents have no other${isThere ? '' : ' (not run: not here)'}`, () => {
  const texts = readdirSync(SEEDS).map((name) => readFileSync(join(SEEDS, name), 'utf8'));
  const text = texts.join('\n').replaceAll(/\\\n\s*/g, '');
  const lines = Array.from(text.matchAll(/^assay .*$/gm), ([line]) => line.trimEnd());
  const known = COMMANDS.map((command) => command.replaceAll(/\\\n\s*/g, ''));
  expect(lines.filter((line) => !known.includes(line))).toEqual([]);
  const flags = Array.from(text.matchAll(/--[a-z][a-z-]+/g), ([flag]) => flag);
  const all = [...FLAGS, ...FLAGS_OF_OTHERS];
  // Where a page was taken from the web, words run together.
  expect(flags.filter((flag) => !all.some((one) => flag.startsWith(one)))).toEqual([]);
});

/** Their example of what Landlock alone cannot do, as our policies say it. */
const DENY_INSIDE = 'fs: { allow: ["${CWD}/**"], deny: ["${CWD}/.ssh/**"] }\n';
const WITHOUT_BROKER = '--layers landlock,seccomp --policy assay.yaml';

const AGENT = 'your-agent --task one';
const fill = (command: string, agent = AGENT): string =>
  command.replace('<your coding-agent command> [args...]', agent);

const list = (place: Place): string[] =>
  readdirSync(place.work).filter((name) => name.startsWith('run.'));

function readRunId(place: Place, file = 'run.profile.evidence.yaml'): string {
  const { run_ids: ids } = parse(place.read(`work/${file}`)) as { run_ids: string[] };
  return ids.join();
}

describeForEachPerson('the commands that were promised', (person: Person) => {
  const makePlace = usePlaces(person);

  it('leave three artifacts with a run id that is the same for the same behaviour', async () => {
    const place = await makeCheckout(makePlace());
    const first = await type(place, fill(RECORD));
    expect(first.code).toBe(0);
    expect(list(place)).toEqual(['run.profile.evidence.yaml', 'run.profile.yaml', 'run.report.md']);
    const id = readRunId(place);
    expect(id).toMatch(/^sandbox_[0-9a-f]{16}$/);
    expect(first.stderr).toContain(id);
    expect(place.read('work/run.report.md')).toContain(`Run id: \`${id}\``);
    expect(parse(place.read('work/run.profile.yaml'))).toMatchObject({ api_version: 'assay/v1' });

    await type(place, fill(RECORD));
    expect(readRunId(place)).toBe(id);
    await type(place, fill(RECORD, 'your-agent --task two'));
    expect(readRunId(place)).not.toBe(id);
  });

  it('name the report by the profile, and write JSON', async () => {
    const place = await makeCheckout(makePlace());
    const flags = '--profile run.profile.yaml --profile-format json';
    expect((await type(place, `assay sandbox ${flags} -- ${AGENT}`)).code).toBe(0);
    const names = ['run.profile.evidence.json', 'run.profile.yaml', 'run.profile.yaml.report.md'];
    expect(list(place)).toEqual(names);
    for (const name of names.slice(0, 2))
      expect(JSON.parse(place.read(`work/${name}`))).toBeTypeOf('object');
  });

  it('make a bundle of events, which lint and diff take', async () => {
    const place = await makeCheckout(makePlace());
    expect((await type(place, fill(BUNDLE))).code).toBe(0);
    const lint = await type(place, LINT);
    expect(lint).toMatchObject({ code: 0, stdout: expect.stringContaining('intact') });

    const bundle = await readBundle(place.at('work/run.bundle.tar.gz'));
    expect(bundle.manifest.run_id).toBe(readRunId(place));
    for (const event of bundle.events)
      expect(event).toMatchObject({
        specversion: '1.0',
        id: expect.any(String),
        type: expect.any(String),
        source: expect.any(String),
        time: expect.any(String),
      });
    expect(dataOf(bundle, 'fs').length).toBeGreaterThan(0);
    expect(dataOf(bundle, 'exec').length).toBeGreaterThan(0);
    expect(dataOf(bundle, 'degraded')).toEqual([]);
    expect(dataOf(bundle, 'summary')).toHaveLength(1);

    const again = fill(BUNDLE).replace('run.bundle', 'again.bundle');
    expect((await type(place, again)).code).toBe(0);
    const diff = 'assay evidence diff --fail-on any run.bundle.tar.gz again.bundle.tar.gz';
    const { code, stdout } = await type(place, diff);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('No differences.'),
    });
  });

  it('end as the modes say', async () => {
    const place = await makeCheckout(makePlace());
    place.write('work/server', '#!/bin/sh\necho up\n', 0o755);
    place.write('work/assay.yaml', DENY_INSIDE);
    const ends: unknown[] = [];
    for (const line of [
      FAIL_CLOSED,
      'assay sandbox --enforce -- ./server',
      'assay sandbox --enforce --fail-closed --policy assay.yaml -- ./server',
      'assay sandbox --dry-run -- ./server',
      `assay sandbox --dry-run -- ${AGENT}`,
      `assay sandbox ${WITHOUT_BROKER} -- ./server`,
      `assay sandbox ${WITHOUT_BROKER} --fail-closed -- ./server`,
      FAIL_CLOSED.replace('sandbox', 'sandbox --layers landlock,seccomp'),
    ]) {
      const { code, stdout, stderr } = await type(place, line);
      const isSaid = /fs\.deny: .*(is not enforced|needs the broker)/.test(stderr);
      ends.push([code, stdout.trim(), isSaid]);
    }
    expect(ends).toEqual([
      ...[1, 2, 3, 4].map(() => [0, 'up', false]),
      [4, '', false],
      [0, 'up', true],
      [2, '', true],
      [2, '', false],
    ]);
  });

  it('keep the environment out as each flag says', async () => {
    const place = await makeCheckout(makePlace());
    const env = {
      AWS_SECRET_ACCESS_KEY: 'AKIAXXXXXXXXXX',
      GITHUB_TOKEN: 'ghp_xxxxxxxxxxxx',
      OPENAI_API_KEY: 'sk-xxxxxxxxxx',
      LD_PRELOAD: '/tmp/evil.so',
      PYTHONPATH: '/tmp/evil',
      NODE_OPTIONS: '--require=evil.js',
      COLOUR: 'blue',
    };
    const names = Object.keys(env);
    const look = async (flags: string): Promise<{ passed: string[]; path: string }> => {
      const { code, stdout } = await type(
        place,
        `assay sandbox --quiet ${flags} -- /usr/bin/env`,
        env,
      );
      expect(code).toBe(0);
      const inside = new Map(stdout.split('\n').map((line) => [line.split('=')[0], line]));
      expect(inside.get('HOME')).toBe(`HOME=${place.home}`);
      expect(inside.get('TMPDIR')).toMatch(new RegExp(`^TMPDIR=/tmp/assay-${person.uid}-\\d+$`));
      return { passed: names.filter((name) => inside.has(name)), path: inside.get('PATH') ?? '' };
    };
    expect((await look('')).passed).toEqual(['COLOUR']);
    expect((await look('--env-strict')).passed).toEqual([]);
    expect((await look('--env-strip-exec')).passed).toEqual(['COLOUR']);
    const some = '--env-strict --env-allow COLOUR,GITHUB_TOKEN';
    expect((await look(some)).passed).toEqual(['GITHUB_TOKEN', 'COLOUR']);
    expect((await look('--env-safe-path')).path).toBe('PATH=/usr/bin:/bin');
    expect((await look('--env-passthrough')).passed).toEqual(names);
  });

  it('give each run a tmp of its own, for its owner only, and remove it', async () => {
    const place = await makeCheckout(makePlace());
    const script = 'stat -L -c %a "$TMPDIR"; echo x > "$TMPDIR/x"; echo "$TMPDIR"';
    const { stdout } = await type(place, `assay sandbox -q -- sh -c '${script}'`);
    const [mode, name = ''] = stdout.trim().split('\n');
    expect(mode).toBe('700');
    expect(existsSync(name)).toBe(false);
  });

  it('enforce a deny inside an allow by the line that the hint names', async () => {
    const place = await makeCheckout(makePlace());
    const words = 'allow: /home/**\ndeny:  /home/.ssh/**   # ← Ignored by Landlock!\n';
    place.write('work/assay.yaml', words.replaceAll('/home', place.home));
    const check = 'assay policy check assay.yaml';
    const wrong = await type(place, check);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('assay.yaml:1:1: unknown key `allow`');
    place.write('work/assay.yaml', `${/hint: write `(.*)`/.exec(wrong.stderr)?.[1]}\n`);
    expect((await type(place, check)).code).toBe(0);

    place.write('home/open', 'open\n');
    const read = `assay sandbox -q --fail-closed -p assay.yaml -- cat ${place.home}/open ${place.home}/.ssh/id_ed25519`;
    const { code, stdout, stderr } = await type(place, read);
    expect([code, stdout]).toEqual([1, 'open\n']);
    expect(stderr).toContain('id_ed25519: Permission denied');
  });

  it('name the line that blocks the network where a policy says `net: block`', async () => {
    const place = await makeCheckout(makePlace());
    place.write('work/assay.yaml', 'net: block\n');
    const wrong = await type(place, 'assay sandbox --policy assay.yaml -- ./server');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    const line = /hint: write `(.*)`/.exec(wrong.stderr)?.[1] ?? '';
    expect(line).toBe('net: {deny: ["*"]}');
    place.write('work/assay.yaml', line);

    let count = 0;
    const server = createServer((socket) => {
      count += 1;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const connect = `${PYTHON} -c 'import socket; socket.create_connection(("127.0.0.1", ${port}))'`;
      expect([(await type(place, connect)).code, count]).toEqual([0, 1]);
      const inside = await type(
        place,
        `assay sandbox -q --fail-closed -p assay.yaml -- ${connect}`,
      );
      expect([inside.code, count]).toEqual([1, 1]);
    } finally {
      server.close();
    }
  });

  it('say by which line a policy refuses everything', async () => {
    const place = await makeCheckout(makePlace());
    const deny = '[/home/user/.ssh/**, /home/user/.aws/**, /etc/shadow]';
    place.write(
      'work/assay.yaml',
      `fs:\n  read: ["\${CWD}/**"]\n  write: ["/tmp/assay-1000-12345/**"]\n  deny: ${deny}\n`,
    );
    const run = 'assay sandbox -q --policy assay.yaml -- cat README.md';
    expect((await type(place, run)).code).toBe(0);
    place.write('work/assay.yaml', 'fs:\n  read: ["${CWD}/**"]\n  deny: ["/*"]\n');
    expect(await type(place, run)).toMatchObject({
      code: 126,
      stderr: expect.stringContaining('(assay.yaml:3:10, fs.deny: /*)'),
    });
  });
});
