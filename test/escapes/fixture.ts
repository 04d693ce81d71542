import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

/** Who attacks: the user of this process, or an ordinary one when this process is root. */
export interface Attacker {
  readonly name: 'root' | 'user';
  readonly uid: number;
  readonly gid: number;
}

/** A world of its own for one run of one attack: a home, a workspace, files outside, and a victim. */
export interface Fixture {
  readonly base: string;
  readonly work: string;
  readonly attacker: Attacker;
  readonly secret: string;
  readonly token: string;
  readonly program: string;
  readonly victimPid: number;
  /** A path below the fixture. */
  at(relative: string): string;
  write(relative: string, text: string, mode?: number): void;
  makeDirectory(relative: string): void;
  /** Runs one of the harness's own tools as the attacker, outside. */
  show(tool: string): string;
  git(args: readonly string[], cwd?: string): string;
  victimFact(key: string): string;
  /** Marks left by attacks while they ran. */
  readonly notes: Set<string>;
  close(): void;
}

export interface FixtureOptions {
  readonly attacker: Attacker;
  readonly program: string;
  readonly prepare?: ((fixture: Fixture) => void) | undefined;
}

const SOURCE_FILES: readonly (readonly [string, string])[] = [
  ['home/.bashrc', '# start-up\n'],
  ['home/.gitconfig', '[user]\n\tname = Victim\n\temail = victim@localhost\n'],
  ['outside/target.txt', 'original'],
  ['outside/allow/x', 'allowed'],
  ['work/allowed.txt', 'allowed'],
  ['work/sub/readme.txt', 'readme'],
];

const SECRET_FILES = [
  'home/.ssh/id_rsa',
  'home/.aws/credentials',
  'outside/secret.txt',
  'outside/a/b/secret.txt',
  'outside/denyd/x',
  'work/sub/.env.local',
  'work/sub/key.pem',
];

/** Not below /tmp, which is private inside: what hides there proves nothing about the rules. */
const PLACE = '/var/tmp';

export async function makeFixture(options: FixtureOptions): Promise<Fixture> {
  const { attacker, program } = options;
  const base = fs.mkdtempSync(join(PLACE, 'assay-esc-'));
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const token = `token-${randomBytes(12).toString('hex')}`;
  const facts = new Map<string, string>();
  const outsidePaths = {
    host_tmp: `/tmp/${base.slice(PLACE.length + 1)}.secret`,
    host_tmp_plant: `/tmp/${base.slice(PLACE.length + 1)}.plant`,
    shm_file: `/dev/shm/${base.slice(PLACE.length + 1)}.secret`,
    shm_plant: `/dev/shm/${base.slice(PLACE.length + 1)}.plant`,
    cgroup_plant: `${findCgroupRoot()}/${base.slice(PLACE.length + 1)}`,
  };
  let victim: ChildProcess | undefined;

  const fixture: Fixture = {
    base,
    work: join(base, 'work'),
    attacker,
    secret,
    token,
    program,
    notes: new Set(),
    get victimPid() {
      return Number(facts.get('pid'));
    },
    at: (relative) => join(base, relative),
    write(relative, text, mode) {
      const path = join(base, relative);
      fs.mkdirSync(join(path, '..'), { recursive: true });
      fs.writeFileSync(path, text, mode === undefined ? {} : { mode });
      giveAlong(base, relative, attacker);
    },
    makeDirectory(relative) {
      fs.mkdirSync(join(base, relative), { recursive: true });
      giveAlong(base, relative, attacker);
    },
    show: (tool) => runAs(attacker, program, [tool, base, token], base),
    git: (args, cwd) =>
      runAs(attacker, 'git', [...args], cwd ?? join(base, 'work'), join(base, 'home')),
    victimFact: (key) => facts.get(key) ?? '',
    close() {
      endProcessesBelow(base, victim?.pid);
      for (const path of Object.values(outsidePaths)) removePath(path);
      removePath(base);
    },
  };

  try {
    fs.chmodSync(base, 0o755);
    for (const [path, text] of SOURCE_FILES) fixture.write(path, text);
    for (const path of SECRET_FILES) fixture.write(path, secret, 0o600);
    for (const path of ['sock', 'outside/empty', 'outside/names'])
      fs.mkdirSync(join(base, path), { recursive: true });
    fs.writeFileSync(join(base, 'outside/names', secret), '');
    for (const path of [outsidePaths.host_tmp, outsidePaths.shm_file]) {
      fs.writeFileSync(path, secret, { mode: 0o600, flag: 'wx' });
      fs.chownSync(path, attacker.uid, attacker.gid);
    }
    fs.copyFileSync(program, join(base, 'work/attack'));
    fs.chmodSync(join(base, 'work/attack'), 0o755);
    giveTo(base, attacker);
    options.prepare?.(fixture);
    victim = await startVictim(fixture, facts);
    const lines = [
      ...facts,
      ...Object.entries(outsidePaths),
      ['harness', String(process.pid)] as const,
    ];
    fixture.write('work/victim.conf', lines.map(([key, value]) => `${key}=${value}\n`).join(''));
    return fixture;
  } catch (error) {
    fixture.close();
    throw error;
  }
}

async function startVictim(fixture: Fixture, facts: Map<string, string>): Promise<ChildProcess> {
  const victim = spawn(fixture.program, ['victim', fixture.base, fixture.secret], {
    cwd: fixture.base,
    env: { PATH: '/usr/bin:/bin', VICTIM_SECRET: fixture.secret },
    stdio: ['pipe', 'pipe', 'inherit'],
    uid: fixture.attacker.uid,
    gid: fixture.attacker.gid,
  });
  victim.on('error', () => {});
  let text = '';
  for await (const chunk of victim.stdout ?? []) {
    text += String(chunk);
    if (text.includes('ready=1')) break;
  }
  if (!text.includes('ready=1')) throw new Error(`the victim did not start: ${text}`);
  for (const line of text.split('\n')) {
    const [key, value] = line.split('=');
    if (key !== undefined && value !== undefined) facts.set(key, value);
  }
  return victim;
}

function runAs(
  attacker: Attacker,
  file: string,
  args: string[],
  cwd: string,
  home = '/nonexistent',
): string {
  const result = spawnSync(file, args, {
    cwd,
    env: { PATH: '/usr/bin:/bin', HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    timeout: 10_000,
    uid: attacker.uid,
    gid: attacker.gid,
  });
  return `${result.stdout}${result.stderr}`;
}

/** Gives the file and the directories above it, and nothing else, to the attacker. */
function giveAlong(base: string, relative: string, attacker: Attacker): void {
  if (process.getuid?.() !== 0) return;
  for (let path = relative; path !== '.'; path = dirname(path)) {
    fs.lchownSync(join(base, path), attacker.uid, attacker.gid);
  }
}

export function giveTo(path: string, attacker: Attacker): void {
  if (process.getuid?.() !== 0) return;
  fs.lchownSync(path, attacker.uid, attacker.gid);
  if (!fs.lstatSync(path).isDirectory()) return;
  for (const name of fs.readdirSync(path)) giveTo(join(path, name), attacker);
}

/** Processes that work inside the fixture can only be ours. */
export function findProcessesBelow(base: string): number[] {
  const found: number[] = [];
  for (const name of fs.readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const cwd = fs.readlinkSync(`/proc/${name}/cwd`);
      if (cwd === base || cwd.startsWith(`${base}/`)) found.push(pid);
    } catch {
      // Gone, or somebody else's.
    }
  }
  return found;
}

/** The victim's keeper takes away what lives in the kernel and then leaves by itself; it is ended only if it does not. */
function endProcessesBelow(base: string, keeper: number | undefined): void {
  for (let round = 0; round < 60; round++) {
    const pids = findProcessesBelow(base);
    if (pids.length === 0) return;
    for (const pid of pids) if (pid !== keeper || round > 50) killQuietly(pid);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

function removePath(path: string): void {
  if (path.startsWith('/sys/')) {
    // A cgroup goes by rmdir alone: its files cannot be unlinked.
    if (fs.existsSync(path)) fs.rmdirSync(path);
    return;
  }
  // rmSync() is quicker, and gives up on paths longer than the kernel takes in one piece.
  try {
    fs.rmSync(path, { recursive: true, force: true });
  } catch {
    for (let tries = 0; tries < 5 && fs.lstatSync(path, { throwIfNoEntry: false }); tries++)
      spawnSync('/bin/rm', ['-rf', path]);
  }
}

function findCgroupRoot(): string {
  return (
    ['/sys/fs/cgroup/pids', '/sys/fs/cgroup/unified'].find((path) => fs.existsSync(path)) ??
    '/sys/fs/cgroup'
  );
}
