import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { describeForEachPerson } from './as-user.ts';
import { Place } from './place.ts';
import { dataOf, readBundle } from './read-bundle.ts';
import { ASSAY, type Outcome, PYTHON, runBare } from './run-assay.ts';

interface Result {
  readonly outcome: string;
  readonly exit_code: number;
  readonly stdout: string;
  readonly files: readonly object[];
  readonly evidence: { readonly coverage: { readonly files: string } };
}

/** Names that never were, each as long as can be: the record of them would take all memory. */
const FLOOD = `import os
print('deed', flush=True)
open('evil', 'w').close()
n = 0
while True:
    try: os.open('/workspace/' + '/'.join([str(n) + 'y' * 240] * 15), os.O_RDONLY)
    except OSError: pass
    n += 1
`;

const DEEP = `import os
os.mkdir('d')
for _ in range(230):
    os.chdir('d')
    os.mkdir('d')
open('hidden', 'w').close()
`;

/** Has more descriptors on their way than a sandbox may have open, until its input ends. */
const HOARD = `import os, socket, sys
pairs = [socket.socketpair() for _ in range(4)]
for one, _ in pairs: socket.send_fds(one, [b'x'], [0] * 100)
print('there', flush=True)
sys.stdin.read()
`;

/** What is left on the host by the process of this number. */
function listLeft(pid: number): string[] {
  // Those of other tests go while it looks, which it takes for a failure.
  const found = spawnSync('find', ['/sys/fs/cgroup', '-name', `assay-local-${pid}-*`]);
  const cgroups = found.stdout.toString().split('\n').filter(Boolean);
  const directories = fs.readdirSync('/tmp').filter((name) => name.includes(`-${pid}-`));
  return [...cgroups, ...directories];
}

describeForEachPerson('assay exec, of hostile code', (person) => {
  const exec = async (code: string, ...flags: string[]): Promise<Outcome> => {
    using place = new Place(person, tmpdir());
    const words = [ASSAY, 'exec', '--backend', 'local', '--lang', 'python', ...flags];
    return await runBare({ place, command: words, input: code });
  };
  const execJson = async (code: string, ...flags: string[]): Promise<Result> =>
    JSON.parse((await exec(code, '--json', ...flags)).stdout) as Result;

  it('does not read holes, however many there are', async () => {
    const code = "open('big', 'wb').truncate((1 << 63) - 4096)";
    const { outcome, files } = await execJson(code);
    expect(outcome).toBe('exited');
    expect(files).toEqual([{ path: 'big', change: 'added' }]);
  });

  it('keeps the result when there is more to record than fits, and says so', async () => {
    const limits = ['--memory', '128M', '--timeout', '4s'];
    const { outcome, stdout, files, evidence } = await execJson(FLOOD, ...limits);
    expect(['timeout', 'limit']).toContain(outcome);
    expect(stdout).toBe('deed\n');
    expect(files).toContainEqual(expect.objectContaining({ path: 'evil', change: 'added' }));
    expect(evidence.coverage.files).toBe('partial');
  });

  it('tells of a directory that is too deep to be looked into', async () => {
    const { files } = await execJson(DEEP);
    expect(files).toHaveLength(1);
    expect(files[0]).toMatchObject({ change: 'added', path: expect.stringMatching(/^d(?:\/d)+$/) });
  });

  /** Of code in a workspace of the host that it may change. */
  const findChanges = async (place: Place, input: string) => {
    const bundle = place.at('work/run.tar.gz');
    const workspace = `${place.makeDir('data')}:rw`;
    const flags = ['--lang', 'bash', '--workspace', workspace, '--evidence', bundle];
    const command = [ASSAY, 'exec', '--backend', 'local', ...flags];
    expect(await runBare({ place, command, input })).toMatchObject({ code: 0, stderr: '' });
    const events = await readBundle(bundle);
    const changes = dataOf(events, 'change');
    const [coverage] = dataOf(events, 'coverage') as { surfaces: { changes: object } }[];
    return {
      changes: changes.map(({ change, path }) => `${String(change)} ${String(path)}`),
      coverage: coverage?.surfaces.changes,
    };
  };

  it('tells what directories had in them that were moved, though they are shut', async () => {
    using place = new Place(person, tmpdir());
    place.write('data/d/s/x', 'x');
    const script = 'echo >> d/s/x; mv d e; mkdir n; echo > n/y; chmod 0 n e/s e';
    const found = await findChanges(place, script);
    for (const name of ['n', 'e', 'e/s']) fs.chmodSync(place.at(`data/${name}`), 0o700);
    expect(found).toEqual({
      changes: [
        'created ${CWD}/e/',
        'created ${CWD}/e/s/',
        'created ${CWD}/e/s/x',
        'created ${CWD}/n/',
        'created ${CWD}/n/y',
        'removed ${CWD}/d/',
        'removed ${CWD}/d/s/',
        'removed ${CWD}/d/s/x',
      ],
      coverage: { status: 'complete', reasons: [] },
    });
  });

  it('says when it cannot look at what was moved, for it lies too deep', async () => {
    using place = new Place(person, tmpdir());
    const script = `n=$(printf '%0240d' 0); mkdir top low; cd low
for i in {1..9}; do mkdir $n; cd $n; done; echo > x; cd /workspace/top
for i in {1..9}; do mkdir $n; cd $n; done; mv /workspace/low .`;
    const { coverage } = await findChanges(place, script);
    expect(coverage).toEqual({
      status: 'partial',
      reasons: ['how 1 place ended could not be looked at'],
    });
  });

  it('does not look for changes through links that the code has put in the way', async () => {
    using place = new Place(person, tmpdir());
    for (const name of ['d/x', 'd/y', 'e/x']) place.write(`data/${name}`, name);
    const bundle = place.at('work/run.tar.gz');
    const flags = ['--lang', 'bash', '--workspace', place.at('data'), '--evidence', bundle];
    const input = `echo >> d/x; rm d/x d/y; rmdir d; ln -s e d
mkdir k; echo > k/x; rm k/x; rmdir k; ln -s e k`;
    const command = [ASSAY, 'exec', '--backend', 'local', ...flags];
    expect(await runBare({ place, command, input })).toMatchObject({ code: 0 });
    const changes = dataOf(await readBundle(bundle), 'change');
    expect(changes.map(({ change, path }) => `${String(change)} ${String(path)}`)).toEqual([
      'created ${CWD}/k',
      'modified ${CWD}/d',
      'removed ${CWD}/d/x',
      'removed ${CWD}/d/y',
    ]);
  });

  it('starts while somebody has as many descriptors on their way as the kernel lets one have', async () => {
    const [program, ...words] = [...person.prefix, PYTHON, '-c', HOARD];
    const hoarder = spawn(program, words, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(hoarder.stdout, 'data');
      const { outcome, stdout } = await execJson("print('done')");
      expect({ outcome, stdout }).toEqual({ outcome: 'exited', stdout: 'done\n' });
    } finally {
      hoarder.stdin.end();
    }
  });

  it('copies the rest out when a name is not UTF-8', async () => {
    using place = new Place(person, tmpdir());
    const out = place.at('work/out');
    const words = [ASSAY, 'exec', '--backend', 'local', '--lang', 'python', '--out', out];
    const names = String.raw`b'a\xe9', b'a\xe8', b'a\\xe9', b'\xef\xbf\xbd', 'ok'`;
    const input = `for name in [${names}]: open(name, 'w').close()`;
    const { code, stdout, stderr } = await runBare({ place, command: [...words, '--json'], input });
    const shown = [String.raw`a\xe8`, String.raw`a\xe9`];
    for (const name of shown)
      expect(stderr).toContain(`assay: ${name} has a name that is not UTF-8, and stays inside\n`);
    expect(code).toBe(0);
    expect(fs.readdirSync(out).toSorted()).toEqual([String.raw`a\xe9`, 'ok', '\ufffd']);
    const { files } = JSON.parse(stdout) as { files: { path: string }[] };
    const all = [...shown, String.raw`a\\xe9`, 'ok', '\ufffd'];
    expect(files.map(({ path }) => path).toSorted()).toEqual(all.toSorted());
  });

  it('says which name of a workspace it cannot copy', async () => {
    using place = new Place(person, tmpdir());
    const directory = place.makeDir('work/data');
    fs.writeFileSync(Buffer.from(`${directory}/caf\xe9`, 'latin1'), '');
    const words = [ASSAY, 'exec', '--backend', 'local', '--lang', 'bash', '--workspace', directory];
    const { code, stderr } = await runBare({ place, command: words, input: 'true' });
    expect(stderr).toContain(
      String.raw`Cannot copy "caf\xe9" into the sandbox: its name is not UTF-8`,
    );
    expect(code).toBe(2);
  });

  it('leaves nothing on the host', async () => {
    using place = new Place(person, tmpdir());
    const script = 'echo true > c.sh; "$0" exec --backend local c.sh & wait $! && echo $!';
    const { stdout, stderr } = await runBare({ place, command: ['/bin/sh', '-c', script, ASSAY] });
    expect(stderr).toBe('');
    expect(listLeft(Number(stdout))).toEqual([]);
  });
});
