import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../door-kit.ts';
import { allow, InjectKit, injectInto, SECRET, TestAuthority } from './inject-kit.ts';

let authority: TestAuthority;
beforeAll(() => {
  authority = new TestAuthority();
});
afterAll(() => authority[Symbol.dispose]());

let kit: InjectKit;
afterEach(async () => kit.close());

const NET = [allow('api.test'), allow('other.test')];
const INJECT = [injectInto('api.test', { isTlsOpened: true })];

async function open(net = NET, inject = INJECT): Promise<void> {
  kit = await new InjectKit().open({ net, inject }, { NODE_EXTRA_CA_CERTS: authority.file });
}

interface Speech {
  readonly host?: string;
  readonly name?: string;
  readonly alpn?: string[];
  readonly ca?: string;
}

/** TLS through a tunnel, as a program inside speaks it. */
async function speak(
  port: number,
  { host = 'api.test', name, alpn = [], ca = trusted() }: Speech = {},
): Promise<{ client: Client; socket: TLSSocket }> {
  const tunnel = await kit.door.tunnel(`${host}:${port}`);
  const socket = connect({
    socket: tunnel.socket,
    servername: name ?? host,
    ca,
    ALPNProtocols: alpn,
    checkServerIdentity: () => undefined,
  });
  kit.door.track(socket);
  const client = new Client(socket);
  await once(socket, 'secureConnect');
  await new Promise(setImmediate); // node does not bear to be closed from within that
  return { client, socket };
}

function trusted(): string {
  return kit.injection.opening?.authority.certificatePem ?? '';
}

async function ask(port: number, text: string, options?: Speech) {
  const { client, socket } = await speak(port, options);
  socket.write(text);
  return client.rest();
}

const get = (port: number, more = ''): string =>
  `GET / HTTP/1.1\r\nHost: api.test:${port}\r\nConnection: close\r\n${more}\r\n`;

describe('a header for a host, over TLS', () => {
  it('is added in place of the program’s own, and bytes of both sides are counted', async () => {
    await open();
    const port = await kit.serve(authority.issue('DNS:api.test'));
    const back = await ask(port, get(port, 'authorization: forged\r\n'));
    expect(back).toMatch(/^HTTP\/1\.1 200 /);
    expect(back).not.toContain(SECRET);
    expect(kit.values()).toEqual([SECRET]);
    const fact = await kit.door.fact();
    expect(fact.destination).toEqual({ protocol: 'tcp', name: 'api.test', port });
    expect(fact.sent).toBeGreaterThan(200);
    expect(fact.received).toBeGreaterThan(200);
    expect(JSON.stringify(fact)).not.toContain(SECRET);
  });

  it('serves one request after the other, and judges each', async () => {
    const net = [allow('api.test', { http: { methods: ['GET'], paths: ['/a'] } })];
    await open(net);
    const port = await kit.serve(authority.issue('DNS:api.test'));
    const head = `HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`;
    const { client, socket } = await speak(port);
    socket.write(`GET /a/1 ${head}GET /a/2 ${head}`);
    await client.until('answer\n');
    await client.until('answer\n');
    socket.write(`POST /a/3 HTTP/1.1\r\nHost: api.test:${port}\r\nContent-Length: 0\r\n\r\n`);
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 403 /);
    expect(kit.seen.map(({ url }) => url)).toEqual(['/a/1', '/a/2']);
    expect(kit.values()).toEqual([SECRET, SECRET]);
  });

  it('is not added where the entry does not open TLS, which then passes as it is', async () => {
    await open(NET, [injectInto('api.test')]);
    const port = await kit.serve(authority.issue('DNS:api.test'));
    const { client, socket } = await speak(port, { ca: authority.certificatePem });
    expect(socket.getPeerCertificate().subject.CN).toBe('leaf');
    socket.write(get(port));
    await client.rest();
    expect(kit.values()).toEqual([undefined]);
  });

  it('leaves other hosts alone: their TLS is their own', async () => {
    await open();
    const port = await kit.serve(authority.issue('DNS:other.test'));
    const ca = authority.certificatePem;
    const { client, socket } = await speak(port, { host: 'other.test', ca });
    expect(socket.getPeerCertificate().subject.CN).toBe('leaf');
    socket.write(get(port).replace('api.test', 'other.test'));
    await client.rest();
    expect(kit.values()).toEqual([undefined]);
  });

  it('refuses the name of another host in the hello', async () => {
    await open();
    const port = await kit.serve(authority.issue('DNS:api.test,DNS:other.test'));
    await expect(speak(port, { host: 'api.test', name: 'other.test' })).rejects.toThrow();
    await expect(speak(port, { host: 'other.test', name: 'api.test' })).rejects.toThrow();
    expect(kit.seen).toEqual([]);
  });

  it.each([
    ['Host of another', 'GET / HTTP/1.1\r\nHost: other.test:PORT\r\n\r\n'],
    [
      'absolute form to another',
      'GET https://other.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\n\r\n',
    ],
    [
      'absolute form, Host of another',
      'GET https://api.test:PORT/ HTTP/1.1\r\nHost: other.test:PORT\r\n\r\n',
    ],
    ['CONNECT', 'CONNECT other.test:PORT HTTP/1.1\r\nHost: other.test:PORT\r\n\r\n'],
    ['HTTP/2 outright', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: api.test:PORT\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
  ])('goes nowhere with a request that is odd: %s', async (_, text) => {
    await open();
    const port = await kit.serve(authority.issue('DNS:api.test'));
    const back = await ask(port, text.replaceAll('PORT', String(port)));
    expect(back).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(back).not.toContain(SECRET);
    expect(kit.seen).toEqual([]);
  });

  it('is of HTTP/1.1: a program that knows HTTP/2 only is refused, one that knows both is not', async () => {
    await open();
    const port = await kit.serve(authority.issue('DNS:api.test'));
    await expect(speak(port, { alpn: ['h2'] })).rejects.toThrow();
    const { socket } = await speak(port, { alpn: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
  });

  it('carries websockets once the request was judged', async () => {
    await open();
    const sockets = createServer(authority.issue('DNS:api.test'));
    sockets.on('upgrade', (request, socket) => {
      kit.see(request);
      socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
    });
    const port = await kit.door.listen(sockets);
    const { client, socket } = await speak(port);
    socket.write(
      `GET / HTTP/1.1\r\nHost: api.test:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /);
    socket.write('hello');
    expect(String(await client.take(5))).toBe('hello');
    expect(kit.values()).toEqual([SECRET]);
  });
});

describe('a server whose certificate is not right', () => {
  it.each([
    ['of another name', () => authority.issue('DNS:other.test'), 'altnames'],
    ['self-signed', () => authority.issue('DNS:api.test', { isSelfSigned: true }), 'self-signed'],
    ['that is over', () => authority.issueExpired('api.test'), 'expired'],
  ])('is refused with the reason, and gets no request: %s', async (_, issue, reason) => {
    await open();
    const port = await kit.serve(issue());
    const back = await ask(port, get(port));
    expect(back).toMatch(/^HTTP\/1\.1 502 /);
    expect(back).toContain(reason);
    expect(kit.seen).toEqual([]);
    expect((await kit.door.fact()).note).toContain(reason);
  });

  it('is refused although a variable tells node to take anything', async () => {
    await open();
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const port = await kit.serve(authority.issue('DNS:api.test', { isSelfSigned: true }));
      expect(await ask(port, get(port))).toMatch(/^HTTP\/1\.1 502 /);
      expect(kit.seen).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('is told of when it speaks no TLS at all', async () => {
    await open();
    const port = await kit.serve();
    expect(await ask(port, get(port))).toMatch(/^HTTP\/1\.1 502 /);
    expect(kit.seen).toEqual([]);
  });
});
