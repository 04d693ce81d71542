import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { PYTHON } from '../../e2e/run-assay.ts';
import { ClientSite, SshSite } from './client-site.ts';
import { runInWorld, WEB } from './world.ts';

const GOOD = 'web.example.org';
/** The same server by a name that is not allowed: whatever reaches it got out. */
const EVIL = 'evil.example.net';
const zone = { [GOOD]: [WEB], [EVIL]: [WEB] };

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const lacks = {
  npm: !has('npm', '--version'),
  pip: !has(PYTHON, '-m', 'pip', '--version'),
  requests: !has(PYTHON, '-c', 'import requests'),
  wget: !has('wget', '--version'),
} as const;

let site: ClientSite;
beforeAll(() => {
  site = new ClientSite(`http://${GOOD}`);
});
afterAll(() => site[Symbol.dispose]());

interface Client {
  readonly name: string;
  /** Fetches from the host, and says what it got; ends with another code if it could not. */
  readonly script: (host: string) => string;
  readonly says: string;
  readonly isAbsent?: boolean;
  readonly isSlow?: boolean;
}

const FETCH = (host: string): string =>
  `fetch("http://${host}/simple/thing/").then((r) => r.status === 200 ? console.log("fetched") : process.exit(3), () => process.exit(4))`;

const CLIENTS: readonly Client[] = [
  {
    name: 'npm',
    isSlow: true,
    isAbsent: lacks.npm,
    says: 'from the package',
    script: (host) =>
      `npm install --no-audit --no-fund --silent --fetch-retries=0 --cache ./cache --registry http://${host}/npm/ thing >log 2>&1 && node -p 'require("thing")'`,
  },
  {
    name: 'pip',
    isSlow: true,
    isAbsent: lacks.pip,
    says: 'from the wheel',
    script: (host) =>
      `${PYTHON} -m pip install -q --no-input --retries 0 --disable-pip-version-check --no-cache-dir --target lib --index-url http://${host}/simple/ --trusted-host ${host} thing >log 2>&1 && PYTHONPATH=lib ${PYTHON} -c 'import thing; print(thing.WORD)'`,
  },
  {
    name: 'python requests',
    isSlow: true,
    isAbsent: lacks.requests,
    says: '200',
    script: (host) =>
      `${PYTHON} -c 'import requests; r = requests.get("http://${host}/simple/thing/"); r.raise_for_status(); print(r.status_code)' 2>log`,
  },
  {
    name: 'a python socket',
    says: 'HTTP/1.1 200 OK',
    script: (host) =>
      `${PYTHON} -c 'import socket; s = socket.create_connection(("${host}", 80), 5); s.sendall(b"GET / HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n"); print(s.recv(15).decode())' 2>log`,
  },
  { name: 'node fetch', says: 'fetched', script: (host) => `node -e '${FETCH(host)}'` },
  {
    name: 'curl',
    says: `${WEB}:80 for ${GOOD}`,
    script: (host) => `curl -sSf http://${host}/ 2>log`,
  },
  {
    name: 'wget',
    isAbsent: lacks.wget,
    says: `${WEB}:80 for ${GOOD}`,
    script: (host) => `wget -q -t 1 -O - http://${host}/`,
  },
  {
    name: 'git over http',
    says: 'from the repository',
    script: (host) => `git clone -q http://${host}/repo.git copy 2>log && cat copy/file`,
  },
];

const DOORS = {
  'the proxy, where it knows one': '',
  'the plain door': 'unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY\n',
} as const;

describeForEachPerson('real clients', (person) => {
  const makePlace = usePlaces(person);

  // The slow ones as one person: what they meet is the same for both.
  const isSpared = person.name === 'root' && process.getuid?.() === 0;
  const clients = CLIENTS.filter(({ isSlow = false }) => !isSlow || !isSpared);
  for (const { name, script, says, isAbsent = false } of clients)
    describe.skipIf(isAbsent)(`${name}${isAbsent ? ' (not run: not installed)' : ''}`, () => {
      it.each(Object.entries(DOORS))('gets through %s, and nowhere else', async (_, prefix) => {
        const place = makePlace();
        const inTurn = [EVIL, GOOD].map((host) => `( ${script(host)} ) || echo "refused"`);
        const { stdout, stderr, asked } = await runInWorld({
          place,
          flags: ['--preset', 'coding-agent', '--quiet', '--allow-net', GOOD],
          command: ['/bin/sh', '-c', `${prefix}${inTurn.join('\n')}`],
          zone,
          files: site.dir,
        });
        const log = place.has('work/log') ? place.read('work/log') : '';
        expect(stdout.trimEnd().split('\n'), `${stderr}\n${log}`).toEqual(['refused', says]);
        expect(asked).toEqual([GOOD]);
      });
    });

  // In a user namespace of its own sshd cannot become the user that it separates its privileges with.
  const whyNoSsh =
    process.getuid?.() !== 0
      ? 'not run: sshd needs root'
      : !existsSync('/usr/sbin/sshd')
        ? 'not run: sshd is not installed'
        : undefined;
  describe.skipIf(whyNoSsh !== undefined)(
    `git over ssh (${whyNoSsh ?? 'with a real sshd'})`,
    () => {
      const SEPARATION = '/run/sshd';
      const isMade = whyNoSsh === undefined && !existsSync(SEPARATION);
      let ssh: SshSite;
      beforeAll(() => {
        if (isMade) mkdirSync(SEPARATION);
        ssh = new SshSite({ address: WEB, repository: site.repository });
      });
      afterAll(() => {
        ssh[Symbol.dispose]();
        if (isMade) rmdirSync(SEPARATION);
      });

      it.each([
        ['the plain door', ''],
        ['the proxy', '-o ProxyCommand="socat - PROXY:127.0.0.1:%h:%p,proxyport=3128"'],
      ])('gets through %s, and nowhere else', async (_, option) => {
        const place = makePlace();
        place.write('work/key', ssh.userKey, 0o600);
        const words = `ssh -F /dev/null -i key -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5 ${option}`;
        const clone = (host: string): string =>
          `git clone -q root@${host}:repo.git copy 2>>log && cat copy/file || echo refused`;
        place.write(
          'work/run.sh',
          `export GIT_SSH_COMMAND='${words}'\n${[EVIL, GOOD].map(clone).join('\n')}\n`,
        );
        const { stdout, asked } = await runInWorld({
          place,
          flags: ['--preset', 'coding-agent', '--quiet', '--allow-net', `${GOOD}:22`],
          command: ['/bin/sh', 'run.sh'],
          zone,
          passwd: `tester:x:${person.uid}:${person.gid}::${place.home}:/bin/sh\n`,
          services: [ssh.service],
        });
        expect(stdout.split('\n').filter(Boolean), place.read('work/log')).toEqual([
          'refused',
          'from the repository',
        ]);
        expect(asked).toEqual([GOOD]);
      });
    },
  );
});
