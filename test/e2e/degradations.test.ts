import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { fixture, PYTHON, runBare, runForSummary } from './run-assay.ts';

/** What must be said for something to be open. */
const NAMED: Readonly<Record<string, RegExp>> = {
  'read outside': /^fs: .*reading/,
  'write outside': /^fs: .*writing/,
  'create outside': /^fs: .*writing/,
  'attributes outside': /^fs attributes: /,
  'write in /tmp': /^fs: .*writing/,
  'write in /dev/shm': /^fs: .*writing/,
  'kernel setting': /^fs: .*writing/,
  'configuration that is there': /^configuration protection: .*\.git\/config/,
  'hook that is there': /^configuration protection: .*git hooks/,
  'configuration to come': /^configuration protection: /,
  'hook to come': /^configuration protection: /,
  'see a process': /^processes: .*seen/,
  'signal a process': /^signals: /,
  'list sockets': /^network: .*listed|^system calls: .*sockets/,
  'unix socket': /^system calls: .*sockets/,
  'abstract socket': /^system calls: .*sockets/,
  loopback: /^system calls: .*sockets/,
  'shared memory': /^shared memory: /,
  userfaultfd: /^system calls: /,
};

/** One layer less, and what restricted and old hosts come to. */
const LEFT_OUT = [
  '-cgroup',
  '-landlock',
  '-seccomp',
  '-broker',
  '-mount',
  '-pid',
  '-ipc',
  '-net',
  '-user',
  '-landlock,-broker',
  '-broker,-mount',
  '-broker,-user',
  '-landlock,-user',
  '-seccomp,-mount',
  '-landlock,-seccomp',
  '-landlock,-broker,-mount', // Linux 5.10
  '-landlock,-broker,-user',
  '-seccomp,-user',
  '-seccomp,-user,-landlock',
];

/** Root has the other namespaces without that of users. */
const EVERY_NAMESPACE = '-user,-mount,-pid,-ipc,-net,-nft';

function listening(server: Server, at: string | number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.on('error', reject).listen(at, () => resolve(server));
  });
}

describeForEachPerson('what a lesser boundary leaves open', (person) => {
  const makePlace = usePlaces(person);
  const owner = `assay-open-${process.pid}-${person.name}`;
  const [tmp, shm] = [`/tmp/${owner}`, `/dev/shm/${owner}`];
  let place: Place;
  let servers: Server[];
  let port: number;
  let bystander: ChildProcess;
  let segment: string;

  beforeEach(async () => {
    place = makePlace();
    await runBare({ place, command: ['git', 'init', '-q'] });
    place.write('work/.git/hooks/pre-commit', '#!/bin/sh\n', 0o755);
    place.write('outside.txt', 'secret');
    for (const path of [tmp, shm]) {
      writeFileSync(path, 'x', { mode: 0o666 });
      execFileSync('chown', [`${person.uid}:${person.gid}`, path]);
    }
    bystander = spawn('/usr/bin/env', [...person.prefix, '/bin/sleep', '1000'], {
      stdio: 'ignore',
    });
    const made = execFileSync('ipcmk', ['-M', '4096', '-p', '0666'], { encoding: 'utf8' });
    segment = made.trim().split(' ').at(-1) ?? '';
    servers = [];
    const makeServer = (): Server => createServer((socket) => socket.on('error', () => 0).end());
    for (const at of [place.at('sock'), `\0${owner}`, 0])
      servers.push(await listening(makeServer(), at));
    port = servers.map((server) => server.address() as AddressInfo).at(-1)?.port ?? 0;
    execFileSync('chmod', ['777', place.at('sock')]);
  });

  afterEach(async () => {
    bystander.kill('SIGKILL');
    execFileSync('ipcrm', ['-m', segment]);
    for (const path of [tmp, shm]) rmSync(path, { force: true });
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
  });

  it.each(LEFT_OUT)('is named before the program starts: --layers=%s', async (layers) => {
    const facts = {
      file: place.at('outside.txt'),
      tmp,
      shm,
      pid: bystander.pid,
      socket: place.at('sock'),
      abstract: owner.padEnd(107, '\0'), // as node names it
      port,
      segment: Number(segment),
    };
    const choice = layers.replace('-user', EVERY_NAMESPACE);
    const flags = ['--preset', 'coding-agent', `--layers=${choice}`];
    const command = [PYTHON, '-c', fixture('attempts.py'), JSON.stringify(facts)];
    const { outcome, summary } = await runForSummary({ place, flags, command });
    expect(outcome.code).toBe(0);
    const said = summary.degradations.map(({ rule, reason }) => `${rule}: ${reason}`);
    const worked = outcome.stdout.split('\n').filter(Boolean);
    const unsaid = worked.filter((name) => !said.some((text) => NAMED[name]?.test(text)));
    expect({ said, unsaid }).toEqual({ said, unsaid: [] });
    // Nothing is blamed that is not open: a boundary that is whole says nothing.
    if (layers === '-cgroup') expect({ said, worked }).toEqual({ said: [], worked: [] });
  });
});
