// A Docker daemon of one's own: its own files, its own socket, no bridge, no rules in the host's firewall. For tests, and
// for whoever wants to try the backends without a daemon of the machine:
//
//   node scripts/engines/dockerd.mjs     (as root) runs until it is interrupted, and says which DOCKER_HOST to set
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const READY_MS = 30_000;
const ENDING_MS = 15_000;
const PATH = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].join(delimiter);

function find(program) {
  return PATH.split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

/** Why there can be none; undefined when there can. */
export function findDockerdProblem() {
  if (process.getuid?.() !== 0) return "a Docker daemon of one's own needs root";
  const missing = ['dockerd', 'containerd', 'runc'].filter((name) => find(name) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} not installed; npm run engines installs it`;
  return undefined;
}

function makeConfig(directory, socket) {
  const runsc = find('runsc');
  return {
    'data-root': join(directory, 'data'),
    'exec-root': join(directory, 'exec'),
    pidfile: join(directory, 'pid'),
    hosts: [`unix://${socket}`],
    bridge: 'none',
    iptables: false,
    ip6tables: false,
    'ip-forward': false,
    'ip-masq': false,
    'userland-proxy': false,
    'cgroup-parent': `/${basename(directory)}`,
    'exec-opts': ['native.cgroupdriver=cgroupfs'],
    'log-driver': 'none',
    ...(runsc && {
      runtimes: { runsc: { path: runsc, runtimeArgs: ['--platform=ptrace', '--network=none'] } },
    }),
  };
}

async function answers(socket) {
  return await new Promise((resolve) => {
    const client = connect(socket);
    client.once('error', () => resolve(false));
    client.once('data', () => {
      client.destroy();
      resolve(true);
    });
    client.write('GET /_ping HTTP/1.0\r\n\r\n');
  });
}

/** Control groups stay when the daemon that made them is gone. */
function removeGroups(name) {
  for (const controller of ['', ...readdirSync('/sys/fs/cgroup')])
    try {
      rmdirSync(join('/sys/fs/cgroup', controller, name));
    } catch {
      // not there, or of another kind of control groups
    }
}

function removeFiles(directory) {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => place.startsWith(`${directory}/`));
  for (const place of mounts.reverse()) spawnSync('umount', ['-l', place], { env: { PATH } });
  rmSync(directory, { recursive: true, force: true });
}

/** Starts one and resolves when it answers. `stop()` ends it and takes everything away that it made. */
export async function startDockerd() {
  const directory = mkdtempSync('/var/tmp/assay-dockerd-');
  const socket = join(directory, 'docker.sock');
  const log = join(directory, 'log');
  writeFileSync(join(directory, 'daemon.json'), JSON.stringify(makeConfig(directory, socket)));
  // It ends when whoever started it is killed, too.
  const command = `exec setpriv --pdeathsig TERM dockerd --config-file '${directory}/daemon.json' >'${log}' 2>&1`;
  const child = spawn('/bin/sh', ['-c', command], {
    env: { PATH, HOME: directory, LANG: 'C.UTF-8' },
    cwd: '/',
    stdio: 'ignore',
    // So that an interrupt at the terminal does not end it before what uses it.
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    if ((await Promise.race([ended, sleep(ENDING_MS, 'late', { ref: false })])) === 'late')
      child.kill('SIGKILL');
    await ended;
    removeFiles(directory);
    removeGroups(basename(directory));
  };
  const deadline = Date.now() + READY_MS;
  while (!(await answers(socket))) {
    if (child.exitCode === null && Date.now() < deadline) {
      await sleep(50);
      continue;
    }
    const said = readFileSync(log, 'utf8').split('\n').slice(-15).join('\n');
    await stop();
    throw new Error(`dockerd does not answer:\n${said}`);
  }
  return { socket, host: `unix://${socket}`, pid: child.pid, stop };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problem = findDockerdProblem();
  if (problem !== undefined) {
    console.error(`Cannot start dockerd: ${problem}`);
    process.exit(1);
  }
  const dockerd = await startDockerd();
  console.log(`export DOCKER_HOST=${dockerd.host}`);
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void dockerd.stop().then(() => process.exit(0)));
}
