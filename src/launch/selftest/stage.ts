import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isAlive, removeTree } from '../scoped-tmp.ts';
import { openListeners, type Listeners } from './listeners.ts';

const PREFIX = '.assay-selftest-';

/** What git takes for a repository; written by hand, since git itself may be missing. */
const REPOSITORY = ['work/.git/hooks', 'work/.git/objects', 'work/.git/refs/heads'];

/** What the attack programs are told: places and numbers, never the secret itself. */
export interface StageFacts {
  readonly token: string;
  readonly work: string;
  readonly outside: string;
  readonly secretFile: string;
  readonly targetFile: string;
  readonly tmpSecret: string;
  readonly shmSecret: string;
  readonly tmpPlant: string;
  readonly shmPlant: string;
  readonly socketPath: string;
  readonly abstractName: string;
  readonly tcpPort: number;
  readonly tcp6Port: number;
  readonly udpPort: number;
  readonly victimPid: number;
}

/** A small world for one run of one attack: a workspace, things outside, listeners and, if wanted, a victim. */
export interface Stage {
  readonly facts: StageFacts;
  readonly secret: string;
  readonly tmpdir: string;
  /** What the listeners got. */
  readonly received: ReadonlySet<string>;
  /** Marks left by an attack's `onLine`. */
  readonly marks: Set<string>;
  readonly victim: ChildProcess | undefined;
  close(): Promise<void>;
}

/** Not below /tmp, which is another one inside: what hides there says nothing about the rules. */
function choosePlace(): string {
  const home = homedir();
  try {
    accessSync(home, constants.W_OK);
    return home === '/' ? '/var/tmp' : home;
  } catch {
    return '/var/tmp';
  }
}

/** Removes what a selftest that was killed left behind. */
export function sweepStages(): void {
  const place = choosePlace();
  for (const name of readdirSync(place)) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (pid > 0 && !isAlive(pid)) removeTree(join(place, name));
  }
}

/** A shell that waits for its input to end, so that it cannot outlive this process. */
function startVictim(secret: string, cwd: string): ChildProcess {
  const victim = spawn('/bin/sh', ['-c', 'read line'], {
    cwd,
    env: { VICTIM_SECRET: secret },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  victim.on('error', () => {}); // then it has no pid, and the attack fails without the sandbox, too
  return victim;
}

export async function makeStage({ hasVictim }: { readonly hasVictim: boolean }): Promise<Stage> {
  const base = realpathSync(mkdtempSync(join(choosePlace(), `${PREFIX}${process.pid}-`)));
  const token = randomBytes(12).toString('hex');
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const at = (...names: string[]): string => join(base, ...names);
  const strays = ['secret', 'plant'].flatMap((kind) =>
    ['/tmp', '/dev/shm'].map((place) => `${place}/assay-selftest-${process.pid}-${kind}-${token}`),
  );
  const [tmpSecret = '', shmSecret = '', tmpPlant = '', shmPlant = ''] = strays;
  const received = new Set<string>();
  let listeners: Listeners | undefined;
  let victim: ChildProcess | undefined;
  const close = async (): Promise<void> => {
    victim?.kill('SIGKILL');
    endDaemons(token);
    await listeners?.close();
    for (const path of strays) rmSync(path, { force: true });
    removeTree(base);
  };
  try {
    for (const name of [...REPOSITORY, 'outside', 'tmp']) mkdirSync(at(name), { recursive: true });
    for (const path of [at('outside/secret.txt'), tmpSecret])
      writeFileSync(path, secret, { flag: 'wx', mode: 0o600 });
    writeFileSync(at('outside/target.txt'), 'original');
    writeFileSync(at('work/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(at('work/.git/config'), '[core]\n\tbare = false\n');
    writeQuietly(shmSecret, secret);
    listeners = await openListeners({
      socketPath: at('outside/host.sock'),
      abstractName: `assay-selftest-${token}`,
      received,
    });
    if (hasVictim) victim = startVictim(secret, at('outside'));
    return {
      facts: {
        token,
        work: at('work'),
        outside: at('outside'),
        secretFile: at('outside/secret.txt'),
        targetFile: at('outside/target.txt'),
        tmpSecret,
        shmSecret,
        tmpPlant,
        shmPlant,
        socketPath: at('outside/host.sock'),
        abstractName: `assay-selftest-${token}`,
        ...listeners.ports,
        victimPid: victim?.pid ?? 0,
      },
      secret,
      tmpdir: at('tmp'),
      received,
      marks: new Set(),
      victim,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** /dev/shm is not everywhere; the attack on it is then vacuous. */
function writeQuietly(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch {
    // nothing to attack there
  }
}

/** Processes that carry the mark of this stage's daemon. */
export function findDaemons(token: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid) || pid === process.pid) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(`daemon-${token}`);
      } catch {
        return false; // gone, or somebody else's
      }
    });
}

function endDaemons(token: string): void {
  for (const pid of findDaemons(token)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has just ended
    }
  }
}
