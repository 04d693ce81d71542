import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DoorKit } from './door-kit.ts';

const run = promisify(execFile);
const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

let kit: DoorKit;
let port: number;
let dir: string;

/** Programs that speak to proxies, each in its own way, and none of which knows where `ok.test` is. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'clients-'));
  kit = await new DoorKit(['ok.test']).open();
  kit.hosts.set('ok.test', ['127.0.0.1']);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://ok.test');
    if (pathname.startsWith('/repo.git/')) {
      try {
        response.end(readFileSync(join(dir, pathname)));
      } catch {
        response.writeHead(404).end();
      }
      return;
    }
    if (pathname === '/moved') return void response.writeHead(302, { Location: EVIL }).end();
    request.resume().on('end', () => response.end(`hello ${request.method}`));
  });
  port = await kit.listen(server);
});
afterAll(async () => {
  await kit.close();
  rmSync(dir, { recursive: true, force: true });
});

const EVIL = 'http://evil.test/';

async function start(program: string, args: readonly string[]): Promise<string> {
  const http = `http://127.0.0.1:${kit.proxyPort}`;
  const env = { PATH: process.env['PATH'], HOME: dir, http_proxy: http, https_proxy: http };
  const options = { env, timeout: 20_000, cwd: dir };
  return run(program, args, options).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
  );
}

const url = (path = '/'): string => `http://ok.test:${port}${path}`;

describe.skipIf(!has('curl'))('curl', () => {
  it.each([
    ['by absolute-form HTTP', []],
    ['through a tunnel', ['--proxytunnel']],
    ['by SOCKS with a name', ['--socks5-hostname']],
  ])('comes through %s', async (_, flags) => {
    const socks = flags[0]?.startsWith('--socks') ? [`127.0.0.1:${kit.proxyPort}`] : [];
    expect(await start('curl', ['-sS', ...flags, ...socks, url()])).toBe('hello GET');
  });

  it('sends bodies, with a length and without', async () => {
    expect(await start('curl', ['-sS', '-d', 'a=b', url()])).toBe('hello POST');
    const file = join(dir, 'body');
    writeFileSync(file, Buffer.alloc(300_000));
    const chunked = ['-H', 'Transfer-Encoding: chunked', '-T', file];
    expect(await start('curl', ['-sS', ...chunked, url('/x')])).toBe('hello PUT');
  });

  it('is told why it is refused, at either way and after a redirect', async () => {
    expect(await start('curl', ['-sS', EVIL])).toContain('"error":"refused"');
    expect(await start('curl', ['-sS', '--proxytunnel', EVIL])).toMatch(/403/);
    expect(await start('curl', ['-sSL', url('/moved')])).toContain('"host":"evil.test"');
    const socks = ['--socks5-hostname', `127.0.0.1:${kit.proxyPort}`];
    expect(await start('curl', ['-sS', ...socks, EVIL])).toMatch(/socks|SOCKS/);
  });
});

it.skipIf(!has('wget'))('wget comes through, and is refused', async () => {
  expect(await start('wget', ['-q', '-O', '-', url()])).toBe('hello GET');
  expect(await start('wget', ['-O', '-', '-t', '1', EVIL])).toContain('403');
});

it.skipIf(!has('git'))('git clones over http', async () => {
  const env = { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): void => void execFileSync('git', args, { env, cwd: dir });
  git('init', '-q', '-b', 'main', 'work');
  writeFileSync(join(dir, 'work/file'), 'content\n');
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@ok.test'];
  git('-C', 'work', 'add', '.');
  git('-C', 'work', ...who, 'commit', '-qm', 'one');
  git('clone', '-q', '--bare', 'work', 'repo.git');
  git('-C', 'repo.git', 'update-server-info');
  expect(await start('git', ['clone', '-q', url('/repo.git'), 'copy'])).toBe('');
  expect(readFileSync(join(dir, 'copy/file'), 'utf8')).toBe('content\n');
});

it('node comes through by its own agents', async () => {
  const script = `
    const http = require('node:http');
    const agent = new http.Agent({ keepAlive: true });
    const ask = (path) => new Promise((resolve) => http.get(
      { host: '127.0.0.1', port: ${kit.proxyPort}, path, agent, headers: { Host: new URL(path).host } },
      (r) => { let t = ''; r.on('data', (c) => t += c).on('end', () => resolve(r.statusCode + ' ' + t.slice(0, 9))); }));
    (async () => {
      console.log(await ask('${url('/a')}'), await ask('${url('/b')}'), (await ask('${EVIL}')).slice(0, 3));
      agent.destroy();
    })();`;
  expect(await start(process.execPath, ['-e', script])).toBe('200 hello GET 200 hello GET 403\n');
});

it.skipIf(!has('python3'))('python comes through by urllib and by a socket', async () => {
  const script = `
import socket, urllib.request
print(urllib.request.urlopen("${url()}").read().decode())
s = socket.create_connection(("127.0.0.1", ${kit.proxyPort}))
s.sendall(b"\\x05\\x01\\x00"); s.recv(2)
s.sendall(b"\\x05\\x01\\x00\\x03\\x07ok.test" + (${port}).to_bytes(2, "big")); assert s.recv(10)[1] == 0
s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n"); s.shutdown(socket.SHUT_WR)
print(b"".join(iter(lambda: s.recv(4096), b"")).decode().split("\\r\\n\\r\\n")[1])`;
  expect(await start('python3', ['-c', script])).toBe('hello GET\nhello GET\n');
});
