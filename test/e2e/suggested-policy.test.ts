import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { runAssay } from './run-assay.ts';

interface Trip {
  readonly script: string;
  readonly flags: readonly string[];
  /** Where it runs, below the place; the workspace if nothing is said. */
  readonly cwd?: string;
}

interface Result {
  readonly stdout: string;
  readonly refused: readonly string[];
}

/** Where a shell looks for a user without an account; wherever names are kept by the broker, that is refused. */
const USER_LOOKUP = /\/userdb(?:\/|$)/;

const AGENT = ['--preset', 'coding-agent'];
const TOKEN = 'ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5';

/** Writes a file with these bytes for a name, in octal, into the home. */
const writeOdd = (bytes: string): string => `n=$(printf '${bytes}x'); echo hi > ~/"\${n%x}"`;

function fill(place: Place): void {
  place.write('work/foo', 'foo\n');
  place.write('work/.env', 'secret\n');
  place.write('work/prot.txt', 'protected\n');
  place.write('work/sub/a', 'a\n');
  place.write('outside', 'outside\n');
  place.write('data/other', 'other\n');
  place.write(`data/key-${TOKEN}`, 'key\n');
  place.write('home/data', 'data\n');
  place.write('home/.ssh/id_rsa', 'key\n');
  place.write('home/.tool/a', 'a\n');
  fs.symlinkSync('../outside', place.at('work/link'));
  fs.symlinkSync('../outside', place.at('home/link'));
  execFileSync('git', ['init', '-q', place.work]);
  execFileSync('chown', ['-R', `${place.person.uid}:${place.person.gid}`, place.work]);
}

describeForEachPerson('the suggested policy', (person) => {
  const makePlace = usePlaces(person);

  const runWith = async (place: Place, trip: Trip, flags: readonly string[]): Promise<Result> => {
    const summary = `${place.makeDir('out')}/summary.ndjson`;
    const { stdout } = await runAssay({
      place,
      cwd: place.at(trip.cwd ?? 'work'),
      flags: ['-q', '--json', summary, ...flags],
      command: ['/bin/bash', '-c', trip.script],
    });
    const last = place.read('out/summary.ndjson').trim().split('\n').at(-1) ?? '';
    const { refusals } = JSON.parse(last) as { refusals: readonly { op: string; path: string }[] };
    const refused = refusals.map(({ op, path }) => `${op} ${path}`);
    return { stdout, refused: refused.filter((one) => !USER_LOOKUP.test(one)) };
  };

  /** What a run did, and what the same does elsewhere under the policy that it suggests. */
  const goAndReturn = async (trip: Trip): Promise<[Result, Result, Place]> => {
    const first = makePlace();
    fill(first);
    const policy = `${first.makeDir('out')}/policy.yaml`;
    const before = await runWith(first, trip, [
      ...trip.flags.map((flag) => flag.replace('@', first.base)),
      '--profile',
      policy,
    ]);
    const second = makePlace();
    fill(second);
    const text = fs.readFileSync(policy, 'utf8').replaceAll(first.base, second.base);
    const copy = second.write('policy.yaml', text);
    const strict = ['--policy', copy, '--enforce', '--fail-closed'];
    const after = await runWith(second, trip, strict);
    const local = ({ stdout, refused }: Result, place: Place): Result => ({
      stdout: stdout.replaceAll(place.base, '@'),
      refused: refused.map((one) => one.replaceAll(place.base, '@')),
    });
    return [local(before, first), local(after, second), second];
  };

  it.each<[string, Trip]>([
    ['looks at a file', { flags: AGENT, script: 'test -e foo && echo yes; stat -c %s foo' }],
    ['reads a link', { flags: AGENT, script: 'readlink link' }],
    ['goes to a directory', { flags: AGENT, script: 'cd sub && pwd' }],
    ['follows a link out', { flags: [...AGENT, '--allow-read', '@/outside'], script: 'cat link' }],
    [
      'follows a link out of the home',
      { flags: ['--allow-read', '@/outside'], script: 'cat link data', cwd: 'home' },
    ],
    [
      'configures git',
      {
        flags: [...AGENT, '--allow-write', '.git/config', '--allow-write', '.git/config.lock'],
        script: 'git config a.b c; git config a.b',
      },
    ],
    [
      'makes a file that alone it may make',
      { flags: ['--allow-write', 'sub/new'], script: 'echo x > sub/new; cat sub/new' },
    ],
    [
      'uses a name with a secret in it',
      {
        flags: ['--allow-write', '@/data'],
        script: `cat ../data/key-${TOKEN}; echo x > ../data/key-${TOKEN}`,
      },
    ],
    ...[
      '\\377\\376',
      '*',
      '-',
      '\\\\',
      'a\\nb',
      'a ',
      '~',
      '$x',
      '{a,b}',
      '[!a]',
      '\\355\\240\\200',
    ].map((bytes): [string, Trip] => [
      `makes ${bytes} in the home`,
      { flags: ['--allow-write', '~'], script: writeOdd(bytes) },
    ]),
  ])('lets a run pass again that %s', async (_, trip) => {
    const [before, after] = await goAndReturn(trip);
    expect(before.refused).toEqual([]);
    expect(after).toEqual(before);
  });

  it.each<[string, Trip]>([
    [
      'a name that is denied anywhere',
      { flags: [...AGENT, '--deny', '.env*'], script: 'cat foo .env; echo n > new' },
    ],
    [
      'a new file beside the one that may be made',
      { flags: ['--allow-write', 'sub/new'], script: 'echo x > sub/new; echo y > sub/other' },
    ],
    ['a program', { flags: [...AGENT, '--deny', '/usr/bin/id'], script: 'id; cat foo' }],
    [
      'to move over what is denied',
      { flags: [...AGENT, '--deny', '.env'], script: 'echo x > new; mv new .env; ls' },
    ],
  ])('refuses again %s', async (_, trip) => {
    const [before, after] = await goAndReturn(trip);
    expect(before.refused).not.toEqual([]);
    expect(after).toEqual(before);
  });

  it('protects what was protected', async () => {
    const place = makePlace();
    const rules = "extends: [coding-agent]\nfs: { protect: ['prot.txt'] }\n";
    const policy = place.write('policy.yaml', `api_version: assay/v1\n${rules}`);
    fill(place);
    const trip = { flags: [], script: 'echo x > prot.txt; echo y > new; echo z > sub/prot.txt' };
    const suggested = `${place.makeDir('out')}/suggested.yaml`;
    await runWith(place, trip, ['--policy', policy, '--profile', suggested]);
    await runWith(place, trip, ['--policy', suggested, '--enforce', '--fail-closed']);
    expect(place.read('work/prot.txt')).toBe('protected\n');
    expect(place.has('work/sub/prot.txt')).toBe(false);
    expect(place.read('work/new')).toBe('y\n');
  });

  it('does not open the home to a run that has it for a workspace', async () => {
    const trip = { flags: AGENT, script: 'cat data; echo n > new', cwd: 'home' };
    const [, after, place] = await goAndReturn(trip);
    expect(after.refused).toEqual([]);
    expect(place.read('home/new')).toBe('n\n');
    const flags = ['--policy', place.at('policy.yaml')];
    const script = 'cat .ssh/id_rsa .tool/a; echo x > .bashrc; echo x > other';
    const { stdout } = await runWith(place, { ...trip, script }, flags);
    expect(stdout).toBe('');
    expect(place.has('home/other') || place.has('home/.bashrc')).toBe(false);
  });
});
