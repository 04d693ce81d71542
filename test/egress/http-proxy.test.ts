import { afterEach, describe, expect, it } from 'vitest';
import { DoorKit } from './door-kit.ts';
import { ask, startUpstream } from './http-client.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

/** A resolver that never answers. */
const SILENT = {
  lookup: async () => new Promise<never>(() => undefined),
  doubt: () => undefined,
  prepare: async () => undefined,
};

async function open(allowed: readonly string[] = ['ok.test']): Promise<number> {
  kit = await new DoorKit(allowed).open();
  return startUpstream(kit);
}

function readBody(text: string): Record<string, unknown> {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
}

describe('CONNECT', () => {
  it('opens a tunnel to what is allowed, and tells of it once it has ended', async () => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const port = await kit.echo();
    const client = await kit.tunnel(`OK.test.:${port}`);
    const peerPort = client.socket.localPort;
    client.socket.end('hello\n');
    expect(await client.rest()).toBe('hello\n');
    expect(await kit.fact()).toMatchObject({
      door: 'http',
      destination: { protocol: 'tcp', name: 'ok.test', port },
      address: '127.0.0.1',
      outcome: 'ok',
      sent: 6,
      received: 6,
      peerPort,
    });
  });

  it('answers a refusal with what, why and the flag', async () => {
    kit = await new DoorKit(['ok.test:443']).open();
    const text = await ask(kit, 'CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(text).toContain('\r\nContent-Type: application/json\r\n');
    expect(readBody(text)).toEqual({
      error: 'refused',
      host: 'ok.test',
      port: 80,
      rule: null,
      reason: 'no rule allows it',
      allow: '--allow-net ok.test',
    });
    expect(await kit.fact()).toMatchObject({ outcome: 'refused', sent: 0, received: 0 });
  });

  it('refuses a name all of whose addresses are barred, and dials none of them', async () => {
    kit = await new DoorKit(['ok.test']).open();
    let dialled = 0;
    const port = await kit.serve((socket) => void (dialled++, socket.destroy()));
    kit.hosts.set('ok.test', ['127.0.0.1', '127.0.0.1']);
    kit.rules.barred.add('127.0.0.1');
    const text = await ask(kit, `CONNECT ok.test:${port} HTTP/1.1\r\n\r\n`);
    expect(text).toContain(' 403 ');
    expect(dialled).toBe(0);
  });

  it('passes over barred addresses to the one that is allowed', async () => {
    kit = await new DoorKit(['ok.test']).open();
    const port = await kit.echo();
    kit.hosts.set('ok.test', ['127.0.0.2', '127.0.0.1']);
    kit.rules.barred.add('127.0.0.2');
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.end('x');
    await client.rest();
    expect((await kit.fact()).address).toBe('127.0.0.1');
  });

  it('tries the next address when one refuses', async () => {
    kit = await new DoorKit(['ok.test']).open();
    const port = await kit.echo();
    kit.hosts.set('ok.test', ['127.0.0.9', '::1', '127.0.0.1']);
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.end('x');
    expect(await client.rest()).toBe('x');
  });

  it('says 502 and the errno when nothing answers there', async () => {
    kit = await new DoorKit(['ok.test', 'lost.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const refused = await ask(kit, 'CONNECT ok.test:1 HTTP/1.1\r\n\r\n');
    expect(refused).toContain(' 502 ');
    expect(readBody(refused)).toMatchObject({ error: 'unreachable', errno: 'ECONNREFUSED' });
    const lost = await ask(kit, 'CONNECT lost.test:1 HTTP/1.1\r\n\r\n');
    expect(readBody(lost)).toMatchObject({ errno: 'ENOTFOUND' });
    expect(kit.facts.map(({ outcome }) => outcome)).toEqual(['ECONNREFUSED', 'ENOTFOUND']);
  });

  it('says 504 when looking up takes too long', async () => {
    kit = await new DoorKit(['ok.test']).open({
      resolver: SILENT,
      limits: { dialMs: 50 },
    });
    expect(await ask(kit, 'CONNECT ok.test:1 HTTP/1.1\r\n\r\n')).toContain(' 504 ');
  });

  it('takes an address that stands for a name for that name', async () => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    kit.names.set('198.18.0.7', 'ok.test');
    const port = await kit.echo();
    const client = await kit.tunnel(`198.18.0.7:${port}`);
    client.socket.end('x');
    await client.rest();
    expect((await kit.fact()).destination).toEqual({ protocol: 'tcp', name: 'ok.test', port });
  });
});

describe('absolute-form requests', () => {
  it('hands on what was understood and nothing of the connection', async () => {
    const port = await open();
    const text = await ask(
      kit,
      `POST http://OK.test:${port}?q=1 HTTP/1.1\r\nhost: ok.TEST:${port}\r\nX-One: 1\r\n` +
        'Proxy-Authorization: Basic eA==\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n' +
        'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    );
    expect(readBody(text)).toEqual({
      method: 'POST',
      url: '/?q=1',
      rawHeaders: ['Host', `ok.test:${port}`, 'X-One', '1', 'Transfer-Encoding', 'chunked'].concat([
        'Connection',
        'TE',
        'TE',
        'trailers',
      ]),
      body: 'abcde',
    });
  });

  it('judges every request of a connection anew', async () => {
    const port = await open();
    const client = await kit.dial();
    const get = (host: string): string =>
      `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`;
    client.socket.write(get('ok.test') + get('ok.test') + get('other.test'));
    const all = await client.rest();
    expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(all).toContain('"host":"other.test"');
    const outcomes = kit.facts.map(({ destination, outcome }) => `${destination.name} ${outcome}`);
    expect(outcomes.toSorted()).toEqual(['ok.test ok', 'other.test refused']);
  });

  it('goes to another allowed host on the same connection', async () => {
    const port = await open(['ok.test', 'other.test']);
    const client = await kit.dial();
    for (const host of ['ok.test', 'other.test', 'ok.test']) {
      client.socket.write(`GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
      expect(await client.until('"body":""}')).toContain(`"Host","${host}:${port}"`);
    }
  });

  it('applies rules for requests', async () => {
    const port = await open(['ok.test', 'other.test']);
    kit.rules.inspected.add('ok.test');
    const request = (method: string): string =>
      `${method} http://ok.test:${port}/a?secret HTTP/1.1\r\nHost: ok.test:${port}\r\nConnection: close\r\n\r\n`;
    expect(await ask(kit, request('GET'))).toContain(' 200 ');
    expect(await ask(kit, request('DELETE'))).toContain(' 403 ');
    const posing = request('GET').replace(
      'Connection:',
      'x_http-Method_override: DELETE\r\nConnection:',
    );
    expect(await ask(kit, posing)).toContain(' 403 ');
    expect(await ask(kit, posing.replaceAll('ok.test', 'other.test'))).toContain(' 200 ');
    expect(kit.facts.map(({ note }) => note)).toContain('DELETE /a');
  });

  it('keeps HTTP/1.0 what it is', async () => {
    const port = await open();
    const text = await ask(kit, `GET http://ok.test:${port}/ HTTP/1.0\r\n\r\n`);
    expect(text).toContain('\r\nConnection: close\r\n');
    expect(readBody(text)).toMatchObject({ rawHeaders: ['Host', `ok.test:${port}`] });
  });

  it('passes 100 Continue on, and waits for the body then', async () => {
    const port = await open();
    const client = await kit.dial();
    client.socket.write(
      `PUT http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(await client.until('\r\n\r\n')).toContain('HTTP/1.1 100 Continue');
    client.socket.write('ab');
    expect(await client.until('}')).toContain('"body":"ab"');
  });

  it('switches to a web socket and lets its bytes pass', async () => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const port = await kit.serve((socket) => {
      socket.once('data', (head: Buffer) => {
        expect(head.toString()).toContain('\r\nUpgrade: websocket\r\n');
        socket.write(
          'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi',
        );
        socket.pipe(socket);
      });
    });
    const client = await kit.dial();
    client.socket.write(
      `GET http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(await client.until('\r\n\r\nhi')).toContain('HTTP/1.1 101 ');
    client.socket.end('\0anything');
    expect(await client.rest()).toBe('\0anything');
  });

  it('opens a new connection where a kept one was closed meanwhile', async () => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const port = await kit.serve((socket) =>
      socket.once('data', () => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx');
      }),
    );
    const client = await kit.dial();
    for (let count = 0; count < 3; count++) {
      client.socket.write(`GET http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\n\r\n`);
      expect(await client.until('\r\n\r\nx')).toContain(' 200 ');
    }
  });
});

describe('limits', () => {
  it('sends a head away that takes too long', async () => {
    kit = await new DoorKit([]).open({ limits: { headMs: 100 } });
    expect(await ask(kit, 'GET http://ok')).toContain(' 408 ');
    const silent = await kit.dial();
    expect(await silent.rest()).toBe('');
  });

  it('says so when the program has too many connections', async () => {
    kit = await new DoorKit([]).open({ limits: { maxClients: 2 } });
    const kept = [await kit.dial(), await kit.dial()];
    const third = await kit.dial();
    expect(await third.rest()).toContain(' 503 ');
    expect(await kit.fact()).toMatchObject({
      destination: { name: 'unread', port: 0 },
      outcome: 'refused',
      verdict: { reason: 'the program has too many connections open' },
    });
    kept.forEach(({ socket }) => socket.destroy());
  });

  it('says so when too many dials are under way', async () => {
    kit = await new DoorKit(['ok.test']).open({
      resolver: SILENT,
      limits: { maxPending: 1 },
    });
    const first = await kit.dial();
    first.socket.write('CONNECT ok.test:1 HTTP/1.1\r\n\r\n');
    expect(await ask(kit, 'CONNECT ok.test:2 HTTP/1.1\r\n\r\n')).toContain(' 503 ');
  });
});
