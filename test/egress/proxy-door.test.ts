import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConnectionFact } from '../../src/egress/egress.ts';
import {
  type ProxyDoor,
  type ProxyDoorInput,
  serveProxyDoor,
} from '../../src/egress/proxy-door.ts';

const run = promisify(execFile);

let dir: string;
let server: Server;
let upstream: Server;
let port: number;
let door: ProxyDoor | undefined;
let facts: ConnectionFact[];
const sockets = new Set<Socket>();

const toNet = (texts: readonly string[]) =>
  texts.map((text) => {
    const origin = { source: '--allow-net', key: 'net.allow', text };
    return { effect: 'allow' as const, text, origin };
  });

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'proxy-door-'));
  facts = [];
  // As whoever knows nothing of doors makes one: neither half-open nor without delay.
  server = createServer();
  upstream = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined));
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    socket.on('end', () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${text.length} bytes`));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  port = (upstream.address() as AddressInfo).port;
});
afterEach(async () => {
  await door?.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  upstream.close();
  rmSync(dir, { recursive: true });
});

async function serve(net: readonly string[], more: Partial<ProxyDoorInput> = {}): Promise<string> {
  const path = join(dir, 'door');
  door = serveProxyDoor(server, {
    policy: { net: toNet(net), inject: [] },
    onConnection: (fact) => void facts.push(fact),
    outside: { lookup: async () => ['127.0.0.1'], close: () => undefined },
    ...more,
  });
  server.listen(path);
  await once(server, 'listening');
  return path;
}

/** What comes back until the end. */
async function say(path: string, text: string): Promise<string> {
  const socket = connect({ path, allowHalfOpen: true });
  sockets.add(socket);
  let got = '';
  socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
  socket.on('error', (error: NodeJS.ErrnoException) => (got ||= error.code ?? ''));
  socket.end(text, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  return got;
}

it('serveProxyDoor() serves a unix socket by the rules, and tells of each connection', async () => {
  const path = await serve(['ok.test', `127.0.0.1:${port}`]);
  const connected = await say(path, `CONNECT ok.test:${port} HTTP/1.1\r\n\r\nword`);
  expect(connected).toBe(
    'HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n\r\n4 bytes',
  );
  const refused = await say(path, 'CONNECT evil.test:443 HTTP/1.1\r\n\r\n');
  expect(refused).toMatch(/^HTTP\/1\.1 403 [^]*"allow":"--allow-net evil\.test:443"/);
  const socks = await say(
    path,
    `\x05\x01\x00\x05\x01\x00\x03\x07ok.test${String.fromCharCode(port >> 8, port & 255)}`,
  );
  expect(socks.slice(0, 4)).toBe('\x05\x00\x05\x00');
  await door?.drain();
  expect(
    facts.map(({ door: by, destination, outcome }) => [by, destination.name, outcome]),
  ).toEqual([
    ['http', 'ok.test', 'ok'],
    ['http', 'evil.test', 'refused'],
    ['socks', 'ok.test', 'ok'],
  ]);
  expect(facts[0]).toMatchObject({ sent: 4, address: '127.0.0.1' });
});

it('serveProxyDoor() keeps allowed names from leading to the host', async () => {
  const path = await serve(['ok.test']);
  expect(await say(path, `CONNECT ok.test:${port} HTTP/1.1\r\n\r\n`)).toContain(' 403 ');
  expect(facts[0]?.verdict.reason).toContain("on the host's loopback");
});

it('serveProxyDoor() is open to whom it is told to be', async () => {
  const path = await serve(['ok.test', 'loopback'], { isWelcome: () => false });
  const got = await say(path, `CONNECT ok.test:${port} HTTP/1.1\r\n\r\n`);
  expect(['ECONNRESET', 'EPIPE', '']).toContain(got);
  expect(facts).toEqual([]);
});

it('serveProxyDoor() cuts what a rule does not allow any more, and leaves the server alone', async () => {
  const path = await serve(['ok.test', 'loopback']);
  const socket = connect({ path });
  sockets.add(socket.on('error', () => undefined));
  socket.write(`CONNECT ok.test:${port} HTTP/1.1\r\n\r\n`);
  await once(socket, 'data');
  door?.rules.revoke('ok.test');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(facts[0]).toMatchObject({ outcome: 'ok', note: 'cut: no rule allows it any more' });
  await door?.close();
  door = undefined;
  expect(server.listening).toBe(true);
  expect(server.listenerCount('connection')).toBe(0);
});

it('serveProxyDoor() serves TCP, for a program that knows proxies only', async () => {
  await serve(['ok.test', 'loopback']);
  server.close();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout } = await run(
    'curl',
    ['-sS', '-p', '-x', proxy, '-w', '%{http_connect}'].concat([
      '--max-time',
      '1',
      `http://evil.test:${port}/`,
    ]),
  ).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('403');
});
