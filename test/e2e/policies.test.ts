import * as fs from 'node:fs';
import { tmpdir } from 'node:os';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { Place, usePlaces } from './place.ts';
import { type Outcome, runAssay, runForSummary, runScript } from './run-assay.ts';

const HEAD = 'api_version: assay/v1\n';

describeForEachPerson('a policy file', (person) => {
  const makePlace = usePlaces(person);

  function runUnder(
    place: Place,
    policy: string,
    script: string,
    flags: readonly string[] = [],
  ): Promise<Outcome> {
    const file = place.write('policy.yaml', HEAD + policy);
    return runScript(place, script, { flags: ['--policy', file, ...flags] });
  }

  it('runs the program exactly once', async () => {
    const place = makePlace();
    const outcome = await runUnder(
      place,
      'fs:\n  allow: ["${CWD}"]\n',
      'echo run >> runs; echo ran',
    );
    expect(outcome).toMatchObject({ code: 0, stdout: 'ran\n' });
    expect(place.read('work/runs')).toBe('run\n');
  });

  it('gives the rights of fs.read, fs.write and fs.exec, and no others', async () => {
    const place = makePlace();
    for (const dir of ['r', 'w', 'x', 'a', 'none'])
      place.write(`${dir}/tool`, '#!/bin/sh\necho ran\n', 0o755);
    const policy = `fs:
  read: ['${place.at('r')}', '\${CWD}']
  write: ['${place.at('w')}']
  exec: ['${place.at('x')}']
  allow: ['${place.at('a')}']
`;
    const script = `for d in r w x a none; do
  (cat ../$d/tool > /dev/null) 2> /dev/null && printf "$d read " || printf "$d - "
  (echo new > ../$d/new) 2> /dev/null && printf "write " || printf -- "- "
  (../$d/tool) > /dev/null 2>&1 && echo exec || echo -
done`;
    const { stdout } = await runUnder(place, policy, script);
    expect(stdout.trim().split('\n')).toEqual([
      'r read - -',
      'w read write -',
      'x read - exec',
      'a read write exec',
      'none - - -',
    ]);
    expect(['r', 'w', 'x', 'a', 'none'].map((dir) => place.has(`${dir}/new`))).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  it('lets one file of a writable place be executed, also below a system directory', async () => {
    // /var is shown as it is, unlike /home, where whatever is granted has a mount of its own.
    using place = new Place(person, process.getuid?.() === 0 ? '/var/lib' : tmpdir());
    for (const name of ['tool', 'other'])
      place.write(`work/${name}`, '#!/bin/sh\necho ran $0\n', 0o755);
    const policy = "fs:\n  write: ['${CWD}']\n  exec: ['${CWD}/tool']\n";
    const script = './tool; ./other 2> /dev/null; echo new > new && cat new';
    expect((await runUnder(place, policy, script)).stdout).toBe('ran ./tool\nnew\n');
  });

  it('keeps its wildcards for files that appear after start', async () => {
    const place = makePlace();
    place.makeDir('work/src');
    const policy = `fs:
  allow: ['\${CWD}']
  deny: ['*.pem', '.env*', '\${CWD}/src/**/secret-?.txt']
`;
    const script = `
for f in new.pem .env .env.local src/secret-1.txt src/deep/er/secret-2.txt; do
  (mkdir -p src/deep/er; echo x > $f) 2> /dev/null && echo "made $f"
done
for f in pem env secret-1.txt src/secret-10.txt; do (echo x > $f) 2> /dev/null || echo "not $f"; done
echo hidden > t; mv t t.pem 2> /dev/null && echo "moved"; ln t u.pem 2> /dev/null && echo "linked"
mkdir d.pem 2> /dev/null && echo "made directory"; exit 0`;
    expect(await runUnder(place, policy, script)).toMatchObject({ code: 0, stdout: '' });
    const outside = `echo ready; while ! test -e go; do sleep 0.05; done; cat late.pem .env src/a/secret-9.txt; cat late.txt`;
    const file = place.at('policy.yaml');
    const late = await runScript(place, outside, {
      flags: ['--policy', file],
      onOutput: (text) => {
        if (!text.startsWith('ready')) return;
        for (const name of ['late.pem', '.env', 'src/a/secret-9.txt', 'late.txt'])
          place.write(`work/${name}`, 'from outside\n');
        place.write('work/go');
      },
    });
    expect(late.stdout).toBe('ready\nfrom outside\n');
  });

  it('allows by wildcard only what it names, also later', async () => {
    const place = makePlace();
    place.write('data/one.csv', 'csv\n');
    place.write('data/one.key', 'key\n');
    const policy = `fs:\n  read: ['\${CWD}', '${place.at('data')}/*.csv']\n  write: ['${place.at('data')}/out-*']\n`;
    const script = `cat ../data/one.csv; cat ../data/one.key; echo x > ../data/out-1 && echo wrote; echo x > ../data/other && echo wrote; exit 0`;
    const { stdout } = await runUnder(place, policy, script);
    expect(stdout).toBe('csv\nwrote\n');
    expect(place.has('data/other')).toBe(false);
  });

  it('lets what it grants be made where it does not exist yet, and nothing beside it', async () => {
    const place = makePlace();
    place.write('data/old', 'old\n');
    const policy = `fs:\n  read: ['\${CWD}']\n  write: ['${place.at('data')}/file', '${place.at('data')}/dir']\n`;
    const script = `cd ../data; echo x > file && cat file; mkdir -p dir/sub; mv file dir/sub/; find dir -type f
cat old; echo x > other; echo x >> old; mv dir/sub/file old; ln dir/sub/file hard; chmod 600 old; rm -f old; exit 0`;
    const outcome = await runUnder(place, policy, script, ['--fail-closed']);
    expect(outcome.stdout).toBe('x\ndir/sub/file\n');
    expect(fs.readdirSync(place.at('data')).toSorted()).toEqual(['dir', 'old']);
    expect(place.read('data/old')).toBe('old\n');
    expect(fs.statSync(place.at('data/old')).mode & 0o777).toBe(0o644);
  });

  it('protects files that may be read but not written', async () => {
    const place = makePlace();
    place.write('work/lock', 'locked\n');
    const policy = "fs:\n  allow: ['${CWD}']\n  protect: ['${CWD}/lock', '*.frozen']\n";
    const script = `cat lock; echo x > lock; rm -f lock; mv lock other; echo x > other; mv other lock; echo x > a.frozen; chmod 777 lock; touch lock; truncate -s 0 lock; exit 0`;
    const { stdout } = await runUnder(place, policy, script);
    expect(stdout).toBe('locked\n');
    expect(place.read('work/lock')).toBe('locked\n');
    expect(fs.statSync(place.at('work/lock')).mode & 0o777).toBe(0o644);
    expect(place.has('work/a.frozen')).toBe(false);
  });

  it('expands ${CWD}, ${HOME}, ${TMPDIR}, ${USER} and ~, and ${CWD} follows --workdir', async () => {
    const place = makePlace();
    place.makeDir('elsewhere');
    place.write('home/a', 'a\n');
    place.write('home/user-tester', 'b\n');
    const file = place.write(
      'policy.yaml',
      `${HEAD}fs:\n  write: ['\${CWD}', '\${TMPDIR}/x']\n  read: ['~/a', '\${HOME}/user-\${USER}']\n`,
    );
    const script = 'pwd; echo x > here && echo wrote; cat ~/a ~/user-tester';
    const { stdout } = await runScript(place, script, {
      flags: ['--policy', file, '--workdir', place.at('elsewhere')],
      env: { USER: 'tester' },
    });
    expect(stdout).toBe(`${place.at('elsewhere')}\nwrote\na\nb\n`);
    expect(place.has('elsewhere/here')).toBe(true);
  });

  it('builds on presets and on files, relative to itself, and deny beats allow through all of them', async () => {
    const place = makePlace();
    place.write(
      'policies/base.yaml',
      `${HEAD}fs:\n  deny: ['*.secret']\n  read: ['${place.at('data')}']\n`,
    );
    const file = place.write(
      'policies/own.yaml',
      `${HEAD}extends: [coding-agent, ./base.yaml]\nfs:\n  allow: ['${place.at('data')}/x.secret']\n`,
    );
    place.write('data/plain', 'plain\n');
    place.write('data/x.secret', 'secret\n');
    const script = 'cat ../data/plain ../data/x.secret; echo x > wrote; ls';
    const { stdout } = await runScript(place, script, { flags: ['--policy', file] });
    expect(stdout).toBe('plain\nwrote\n');
  });

  it('sets limits and environment, and flags come on top', async () => {
    const place = makePlace();
    const file = place.write(
      'policy.yaml',
      `${HEAD}extends: [coding-agent]\nlimits:\n  timeout: 30s\n  files: 3\n  pids: 50\nenv:\n  allow: [MY_TOKEN]\n  deny: [PLAIN]\n  set: { GREETING: 'hello there' }\n`,
    );
    const { outcome, summary } = await runForSummary({
      place,
      flags: ['--policy', file, '--limit-files', '2'],
      command: [
        '/bin/sh',
        '-c',
        'echo "$MY_TOKEN/$PLAIN/$GREETING/$OTHER_TOKEN"; for i in 1 2 3 4; do touch f$i; done; ls f* | wc -l',
      ],
      env: { MY_TOKEN: 'mine', PLAIN: 'plain', OTHER_TOKEN: 'other' },
    });
    expect(outcome.stdout).toBe('mine//hello there/\n2\n');
    expect(summary.limits.map(({ limit, value }) => [limit, value])).toEqual(
      expect.arrayContaining([
        ['timeout', 30_000],
        ['files', 2],
        ['pids', 50],
      ]),
    );
  });

  it('is checked against its own tests before anything runs', async () => {
    const place = makePlace();
    const good = `fs:\n  allow: ['\${CWD}']\n  deny: ['*.pem']\ntests:\n  - deny: fs.read \${CWD}/a.pem\n  - allow: fs.write \${CWD}/a.txt\n`;
    expect(await runUnder(place, good, 'echo ran')).toMatchObject({ code: 0, stdout: 'ran\n' });
    const wrong = `fs:\n  allow: ['\${CWD}']\ntests:\n  - deny: fs.read \${CWD}/a.pem\n`;
    const outcome = await runUnder(place, wrong, 'echo ran; touch ran');
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('policy.yaml:5');
    expect(place.has('work/ran')).toBe(false);
  });

  it.each([
    ['a misspelt key', 'fs:\n  wriet: [x]\n', /did you mean `?write/],
    ['a wrong type', 'fs:\n  read: 7\n', /policy\.yaml:3:/],
    ['broken YAML', 'fs: [\n', /policy\.yaml:/],
    ['a repeated key', 'fs:\n  read: [a]\n  read: [b]\n', /policy\.yaml:4/],
    ['an unknown version', 'api_version: assay/v9\n', /policy\.yaml/],
    ['an unknown variable', 'fs:\n  read: ["${NOPE}/x"]\n', /NOPE/],
    ['a missing base', 'extends: [./nowhere.yaml]\n', /nowhere\.yaml/],
    ['a base that is itself', 'extends: [./policy.yaml]\n', /policy\.yaml/],
    ['a wrong limit', 'limits: { memory: lots }\n', /size/],
  ])('with %s is fatal, says where, and nothing runs', async (_, policy, message) => {
    const place = makePlace();
    const file = place.write(
      'policy.yaml',
      policy.includes('api_version') ? policy : HEAD + policy,
    );
    const outcome = await runAssay({
      place,
      flags: ['--policy', file],
      command: ['/bin/sh', '-c', 'touch ran; echo ran'],
    });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).toContain('E_POLICY_LOAD_FAILED_UNENFORCEABLE');
    expect(place.has('work/ran')).toBe(false);
  });

  it('that is missing or unreadable is fatal', async () => {
    const place = makePlace();
    for (const file of [place.at('missing.yaml'), place.work]) {
      const outcome = await runAssay({
        place,
        flags: ['--policy', file],
        command: ['echo', 'ran'],
      });
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(outcome.stderr).toContain('E_POLICY_LOAD_FAILED_UNENFORCEABLE');
    }
  });
});
