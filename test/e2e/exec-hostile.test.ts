import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { describeForEachPerson } from './as-user.ts';
import { Place } from './place.ts';
import { ASSAY, type Outcome, runBare } from './run-assay.ts';

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

  it('copies the rest out when a name is not UTF-8', async () => {
    using place = new Place(person, tmpdir());
    const out = place.at('work/out');
    const words = [ASSAY, 'exec', '--backend', 'local', '--lang', 'python', '--out', out];
    const input = "open(b'a\\xe9', 'w').close(); open('ok', 'w').close()";
    const { code, stderr } = await runBare({ place, command: words, input });
    expect(stderr).toContain('has a name that may not be UTF-8');
    expect(code).toBe(0);
    expect(fs.readdirSync(out)).toEqual(['ok']);
  });

  it('says which name of a workspace it cannot copy', async () => {
    using place = new Place(person, tmpdir());
    const directory = place.makeDir('work/data');
    fs.writeFileSync(Buffer.from(`${directory}/caf\xe9`, 'latin1'), '');
    const words = [ASSAY, 'exec', '--backend', 'local', '--lang', 'bash', '--workspace', directory];
    const { code, stderr } = await runBare({ place, command: words, input: 'true' });
    expect(stderr).toMatch(/Cannot copy "caf\ufffd" into the sandbox: its name is not UTF-8/);
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
