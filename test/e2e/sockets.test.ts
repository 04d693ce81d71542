import { createServer, type Server } from 'node:net';
import { chmodSync } from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixture, PYTHON, runAssay } from './run-assay.ts';

const CONNECT = `require('net').connect(process.argv[1], function () { console.log('connected'); this.destroy() }).on('error', (e) => console.log(e.code))`;

describeForEachPerson('sockets', (person) => {
  const makePlace = usePlaces(person);
  const node = process.execPath;

  async function withServer(path: string, body: () => Promise<void>): Promise<void> {
    const server = await new Promise<Server>((resolve) => {
      const made = createServer((socket) => socket.on('error', () => undefined).end());
      made.listen(path, () => resolve(made));
    });
    chmodSync(path, 0o777);
    try {
      await body();
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it.each([
    [[]],
    [['--preset', 'coding-agent']],
    [['--preset', 'coding-agent', '--deny', '*.key']],
  ])('the own loopback works for a server and a client: %j', async (flags) => {
    const command = [node, '-e', fixture('loopback.cjs')];
    const outcome = await runAssay({ place: makePlace(), flags: ['-q', ...flags], command });
    expect(outcome).toMatchObject({ code: 0, stdout: 'hello\n' });
  });

  it.each(['./own.sock', '/tmp/own.sock', `sub/own.sock`])(
    'a unix socket that the run makes at %s works between its processes',
    async (path) => {
      const place = makePlace();
      place.makeDir('work/sub');
      const outcome = await runAssay({
        place,
        flags: ['-q', '--preset', 'coding-agent'],
        command: [node, '-e', fixture('unix-echo.cjs'), path],
      });
      expect(outcome).toMatchObject({ code: 0, stdout: 'hello\n' });
    },
  );

  it('a unix socket of a program outside is refused, also in the workspace, and named at the end', async () => {
    const place = makePlace();
    const path = place.at('work/other.sock');
    await withServer(path, async () => {
      const outcome = await runAssay({
        place,
        flags: ['--preset', 'coding-agent'],
        command: [node, '-e', CONNECT, path],
      });
      expect(outcome).toMatchObject({ code: 0, stdout: 'EACCES\n' });
      expect(outcome.stderr).toContain('--allow-unix ./other.sock');
    });
  });

  it('unix.allow and --allow-unix open the way to one that is named', async () => {
    const place = makePlace();
    const path = place.at('outside.sock');
    const policy = place.write(
      'policy.yaml',
      `api_version: assay/v1\nextends: [coding-agent]\nunix:\n  allow: ['${path}']\n`,
    );
    await withServer(path, async () => {
      for (const flags of [
        ['--allow-unix', path],
        ['--policy', policy],
      ]) {
        const command = [node, '-e', CONNECT, path];
        expect(await runAssay({ place, flags, command })).toMatchObject({ stdout: 'connected\n' });
      }
      const denied = ['--allow-unix', path, '--deny', path];
      const outcome = await runAssay({
        place,
        flags: denied,
        command: [node, '-e', CONNECT, path],
      });
      expect(outcome.stdout).not.toContain('connected');
    });
  });

  it('a bound unix socket is called as the program called it', async () => {
    const place = makePlace();
    const program = `
import os, socket
os.mkdir('real'); os.symlink('real', 'link'); os.chdir('real')
for name in ['a', './b', '../link/c', os.getcwd() + '/d', '/proc/self/cwd/e']:
    s = socket.socket(socket.AF_UNIX); s.bind(name); print(s.getsockname(), os.path.exists(name))`;
    const { stdout } = await runAssay({
      place,
      flags: ['-q', '--preset', 'coding-agent'],
      command: [PYTHON, '-c', program],
    });
    expect(stdout.trimEnd().split('\n')).toEqual([
      'a True',
      './b True',
      '../link/c True',
      `${place.at('work/real/d')} True`,
      'e True', // through /proc it cannot be said for another process
    ]);
  });

  it('nothing outside is reached over TCP', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const code = `require('net').connect(${port}, '127.0.0.1', () => console.log('connected')).on('error', (e) => console.log(e.code))`;
    try {
      for (const flags of [
        [],
        ['--layers=-net'],
        ['--layers=-user'],
        ['--layers=-net,-seccomp'],
        ['--layers=-net,-landlock'],
      ]) {
        const outcome = await runAssay({ place: makePlace(), flags, command: [node, '-e', code] });
        expect(outcome.stdout, flags.join()).toMatch(
          /^(ECONNREFUSED|EACCES|EPERM|ENETUNREACH|EAFNOSUPPORT)\n$/,
        );
      }
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
