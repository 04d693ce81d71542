import { once } from 'node:events';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { DoorKit, pause } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

async function open(): Promise<void> {
  kit = await new DoorKit(['ok.test', '127.0.0.1']).open();
  kit.hosts.set('ok.test', ['127.0.0.1']);
}

/** TLS by a key that both know, so that no certificate is needed. */
const PSK = Buffer.alloc(16, 7);
const SHARED = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;

async function startTls(): Promise<number> {
  const server = createTlsServer({ ...SHARED, pskCallback: () => PSK }, (socket) => {
    socket.on('error', () => undefined);
    socket.write('inside');
  });
  server.on('tlsClientError', () => undefined);
  return kit.listen(server);
}

/** What comes out of TLS through a tunnel; 'cut' when it was. */
async function talkTls(target: string, servername: string): Promise<string> {
  const { socket } = await kit.tunnel(target);
  socket.removeAllListeners('data');
  const tls = connectTls({
    ...SHARED,
    socket,
    servername,
    pskCallback: () => ({ psk: PSK, identity: 'test' }),
    checkServerIdentity: () => undefined,
  });
  try {
    const [data] = (await once(tls, 'data')) as [Buffer];
    return data.toString();
  } catch {
    return 'cut';
  } finally {
    tls.destroy();
  }
}

/** Every request that reaches the upstream. */
async function startHttp(seen: string[]): Promise<number> {
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.host} ${request.url}`);
    request.resume().on('end', () => response.end('done'));
  });
  return kit.listen(server);
}

describe('TLS in a tunnel', () => {
  it('passes when it is for the name of the tunnel', async () => {
    await open();
    const port = await startTls();
    expect(await talkTls(`ok.test:${port}`, 'ok.test')).toBe('inside');
  });

  it.each([
    ['for another name', 'evil.test', 'cut: TLS for evil.test'],
    ['for no name', '', 'cut: TLS without a server name'],
  ])('is cut when it is %s', async (_, servername, note) => {
    await open();
    const port = await startTls();
    expect(await talkTls(`ok.test:${port}`, servername)).toBe('cut');
    expect(await kit.fact()).toMatchObject({ note, outcome: 'ok', sent: 0 });
  });

  it('to an address is for whatever name it likes', async () => {
    await open();
    const port = await startTls();
    expect(await talkTls(`127.0.0.1:${port}`, 'any.test')).toBe('inside');
  });

  it('is cut when its hello is none or never ends', async () => {
    kit = await new DoorKit(['ok.test']).open({ limits: { headMs: 100 } });
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const port = await kit.echo();
    for (const bytes of [
      '\x16\x03\x01\x00\x04\x02\x00\x00\x00',
      '\x16\x03\x01',
      '\x80\x2e\x01\x03\x01',
    ]) {
      const client = await kit.tunnel(`ok.test:${port}`);
      client.socket.write(bytes, 'latin1');
      expect(await client.rest()).toBe('reset');
    }
  });
});

describe('plain HTTP in a tunnel', () => {
  const get = (host: string, path = '/'): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

  it('is for the name of the tunnel, each request of it', async () => {
    await open();
    const seen: string[] = [];
    const port = await startHttp(seen);
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(get(`ok.test:${port}`, '/one'));
    await client.until('done');
    client.socket.write(get(`ok.test:${port}`, '/two') + get('evil.test'));
    const all = await client.rest();
    expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(seen).toEqual([`GET ok.test:${port} /one`, `GET ok.test:${port} /two`]);
    expect(kit.facts.map(({ note }) => note)).toContain('asked for evil.test');
  });

  it.each([
    ['another Host', get('evil.test')],
    ['another absolute target', 'GET http://evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n'],
    ['empty lines first', `\r\n\r\n${get('evil.test')}`],
    ['bare line ends', 'GET / HTTP/1.1\nHost: evil.test\n\n'],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['a method of its own', 'FROB / HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['a tab for a blank', 'GET\t/\tHTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['a form feed for a blank', 'GET\f/\fHTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['a blank before it that is none', '\vGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['a version in small letters', 'GET / http/1.1\r\nHost: evil.test\r\n\r\n'],
    ['CONNECT to go on', 'CONNECT evil.test:80 HTTP/1.1\r\nHost: ok.test\r\n\r\n'],
    ['two Host fields', 'GET / HTTP/1.1\r\nHost: ok.test\r\nHost: evil.test\r\n\r\n'],
  ])('reaches nobody with %s', async (_, text) => {
    await open();
    let got = '';
    const port = await kit.serve((socket) =>
      socket.on('data', (chunk: Buffer) => (got += chunk.toString())),
    );
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(text);
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(got).toBe('');
  });

  it('is cut when it comes in pieces that pass for something else', async () => {
    await open();
    let got = '';
    const port = await kit.serve((socket) =>
      socket.on('data', (chunk: Buffer) => (got += chunk.toString())),
    );
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write('GE');
    await pause(50);
    client.socket.write('T / HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    expect(await client.rest()).toBe('reset');
    expect(got).toBe('GE');
  });

  it.each([
    ['line breaks without end', '\r\n'.repeat(9000)],
    ['a long line by a method of its own', `FROB /${'x'.repeat(20_000)} HTTP/1.1\r\n`],
    ['a long line behind a form feed', `\fGET /${'x'.repeat(20_000)} HTTP/1.1\r\n`],
  ])('is not hidden behind %s', async (_, text) => {
    await open();
    let got = '';
    const port = await kit.serve((socket) =>
      socket.on('data', (chunk: Buffer) => (got += chunk.toString())),
    );
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(`${text}${get('evil.test')}`);
    expect(await client.rest()).toMatch(/^reset$|^HTTP\/1\.1 400 /);
    expect(got).not.toContain('evil.test');
  });

  it('takes no longer for a line that comes byte by byte', async () => {
    await open();
    const port = await kit.echo();
    const client = await kit.tunnel(`ok.test:${port}`);
    for (let count = 0; count < 500; count++) {
      client.socket.write(count % 2 === 0 ? 'a' : ' ');
      await new Promise(setImmediate);
    }
    expect((await client.take(500)).toString()).toBe('a '.repeat(250));
    client.socket.write('HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    expect(await client.rest()).toBe('reset');
  });

  it('is cut when its head drips in for too long', async () => {
    kit = await new DoorKit(['ok.test']).open({ limits: { headMs: 200 } });
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const client = await kit.tunnel(`ok.test:${await kit.echo()}`);
    client.socket.write('GET /');
    const drip = setInterval(() => client.socket.write('x'), 20);
    expect(await client.rest()).toBe('reset');
    clearInterval(drip);
    expect((await kit.fact()).durationMs).toBeLessThan(5000);
  });

  it('obeys the rules for requests', async () => {
    await open();
    kit.rules.inspected.add('ok.test');
    const seen: string[] = [];
    const port = await startHttp(seen);
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(get('ok.test'));
    await client.until('done');
    client.socket.write('DELETE / HTTP/1.1\r\nHost: ok.test\r\n\r\n');
    expect(await client.rest()).toContain(' 403 ');
    expect(seen).toEqual([`GET ok.test:${port} /`]);
  });

  it('ends when the server ends it', async () => {
    await open();
    const port = await kit.serve((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx');
        setTimeout(() => socket.end(), 50);
      }),
    );
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(get('ok.test'));
    expect(await client.rest()).toContain('\r\n\r\nx');
  });
});

describe('other protocols in a tunnel', () => {
  it.each([
    ['letters without an end', 'ping'],
    ['one letter', 'G'],
    ['lines', 'EHLO me\r\n'],
    ['an empty line', '\r\n'],
    ['a long line without an end', 'x'.repeat(20_000)],
    ['the first line of ssh', 'SSH-2.0-a b\r\n'],
    ['bytes', '\0\0\0\x08\x04\xd2\x16\x2f'],
    ['bytes of telnet', '\xff\xfb\x01'],
    ['what only begins like TLS', '\x16\x04'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('pass, such as %s', async (_, text) => {
    await open();
    const port = await kit.echo();
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(text, 'latin1');
    expect((await client.take(text.length)).toString('latin1')).toBe(text);
    client.socket.write('more');
    expect((await client.take(4)).toString()).toBe('more');
  });

  it.each(['\0\0\0\x08', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'EHLO me\r\n'])(
    'do not where rules for requests apply: %j',
    async (text) => {
      await open();
      kit.rules.inspected.add('ok.test');
      let got = '';
      const port = await kit.serve((socket) =>
        socket.on('data', (chunk: Buffer) => (got += chunk.toString())),
      );
      const client = await kit.tunnel(`ok.test:${port}`);
      client.socket.write(text, 'latin1');
      expect(await client.rest()).toMatch(/^reset$| 400 /);
      expect(got).toBe('');
    },
  );

  it.each(['DELETE /\r\n', '\0\r\nDELETE / HTTP/1.1\r\nHost: ok.test\r\n\r\n'])(
    'do not where rules for requests apply, when all of it is there before the tunnel: %j',
    async (text) => {
      await open();
      kit.rules.inspected.add('ok.test');
      let got = '';
      const port = await kit.serve((socket) =>
        socket.on('data', (chunk: Buffer) => (got += chunk.toString())),
      );
      const client = await kit.dial();
      client.socket.end(`CONNECT ok.test:${port} HTTP/1.1\r\n\r\n${text}`);
      await client.rest();
      expect((await kit.fact()).note).toContain('HTTP rules apply');
      expect(got).toBe('');
    },
  );
});
