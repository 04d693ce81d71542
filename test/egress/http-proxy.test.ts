import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { DoorKit } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

/** A resolver that never answers. */
const SILENT = {
  lookup: async () => new Promise<never>(() => undefined),
  doubt: () => undefined,
  prepare: async () => undefined,
};

/** Tells each request as it came: its line, its fields and its body. */
async function startUpstream(): Promise<number> {
  const server = createServer({ keepAliveTimeout: 5000 }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method, url, rawHeaders } = request;
      response.end(JSON.stringify({ method, url, rawHeaders, body }));
    });
  });
  return kit.listen(server);
}

async function open(allowed: readonly string[] = ['ok.test']): Promise<number> {
  kit = await new DoorKit(allowed).open();
  kit.hosts.set('ok.test', ['127.0.0.1']);
  kit.hosts.set('other.test', ['127.0.0.1']);
  return startUpstream();
}

async function ask(text: string): Promise<string> {
  const client = await kit.dial();
  client.socket.write(text, 'latin1');
  return client.rest();
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
    const text = await ask('CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n');
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
    const text = await ask(`CONNECT ok.test:${port} HTTP/1.1\r\n\r\n`);
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
    const refused = await ask('CONNECT ok.test:1 HTTP/1.1\r\n\r\n');
    expect(refused).toContain(' 502 ');
    expect(readBody(refused)).toMatchObject({ error: 'unreachable', errno: 'ECONNREFUSED' });
    const lost = await ask('CONNECT lost.test:1 HTTP/1.1\r\n\r\n');
    expect(readBody(lost)).toMatchObject({ errno: 'ENOTFOUND' });
    expect(kit.facts.map(({ outcome }) => outcome)).toEqual(['ECONNREFUSED', 'ENOTFOUND']);
  });

  it('says 504 when looking up takes too long', async () => {
    kit = await new DoorKit(['ok.test']).open({
      resolver: SILENT,
      limits: { dialMs: 50 },
    });
    expect(await ask('CONNECT ok.test:1 HTTP/1.1\r\n\r\n')).toContain(' 504 ');
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
    expect(await ask(request('GET'))).toContain(' 200 ');
    expect(await ask(request('DELETE'))).toContain(' 403 ');
    const posing = request('GET').replace(
      'Connection:',
      'x_http-Method_override: DELETE\r\nConnection:',
    );
    expect(await ask(posing)).toContain(' 403 ');
    expect(await ask(posing.replaceAll('ok.test', 'other.test'))).toContain(' 200 ');
    expect(kit.facts.map(({ note }) => note)).toContain('DELETE /a');
  });

  it('keeps HTTP/1.0 what it is', async () => {
    const port = await open();
    const text = await ask(`GET http://ok.test:${port}/ HTTP/1.0\r\n\r\n`);
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

/** A server that says `words` to each head of a request, and leaves its connections open. */
async function startTalker(words: string): Promise<{ port: number; heads: string[] }> {
  kit = await new DoorKit(['ok.test']).open();
  kit.hosts.set('ok.test', ['127.0.0.1']);
  const heads: string[] = [];
  const port = await kit.serve((socket) =>
    socket.on('data', (bytes: Buffer) => {
      heads.push(bytes.toString('latin1'));
      if (bytes.includes('\r\n\r\n')) socket.write(words);
    }),
  );
  return { port, heads };
}

describe('answers', () => {
  const request = (port: number, fields: string, method = 'GET'): string =>
    `${method} http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\n${fields}\r\n`;

  it.each([
    ['to a body that waits for 100', '417 No', 'Expect: 100-continue\r\nContent-Length: 9\r\n', ''],
    ['to a body that is on its way', '413 No', 'Content-Length: 9\r\n', 'abc'],
    ['to chunks', '413 No', 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n'],
  ])('says that the connection ends when it comes early, %s', async (_, status, fields, body) => {
    const { port } = await startTalker(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nno`);
    const text = await ask(request(port, fields, 'POST') + body);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n[^]*Connection: close\r\n\r\nno$`));
  });

  it('hands the rest of a body on when its answer came early', async () => {
    const { port, heads } = await startTalker('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const client = await kit.dial();
    client.socket.write(`${request(port, 'Content-Length: 9\r\n', 'POST')}abc`);
    expect(await client.rest()).toMatch(/ok$/);
    client.socket.end('defghi');
    expect(await kit.fact()).toMatchObject({ outcome: 'ok' });
    expect(heads.join('')).toMatch(/\r\n\r\nabcdefghi$/);
  });

  it('says in a tunnel that the connection ends when the server says so', async () => {
    const { port } = await startTalker(
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    );
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.write(`GET / HTTP/1.1\r\nHost: ok.test:${port}\r\n\r\n`);
    expect(await client.rest()).toContain('\r\nConnection: close\r\n\r\nok');
  });

  it('keep their trailers, but for those of the connection and the framing', async () => {
    const { port, heads } = await startTalker(
      'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '2;ext=1\r\nok\r\n0\r\nX-Sum: 7\r\nContent-Length: 7\r\nConnection: close\r\n\r\n',
    );
    const text = await ask(request(port, 'TE: trailers\r\nConnection: TE, close\r\n'));
    expect(text).toContain('\r\nTrailer: X-Sum\r\n');
    expect(text).toMatch(/\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n$/);
    expect(heads.join('')).toContain('Connection: TE\r\nTE: trailers\r\n');
  });

  it('are broken off at a trailer that is no field', async () => {
    const { port } = await startTalker(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno field\r\n\r\n',
    );
    expect(await ask(request(port, ''))).not.toContain('\r\n0\r\n');
  });

  it.each([
    ['204', 'GET', '204 None', ''],
    ['HEAD', 'HEAD', '200 OK', 'Content-Length: 5\r\n'],
    ['304', 'GET', '304 Same', 'Content-Length: 5\r\n'],
  ])(
    'have no body to %s, and a length only where it may stand',
    async (_, method, status, told) => {
      const { port } = await startTalker(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\n`);
      const text = await ask(request(port, 'Connection: close\r\n', method));
      expect(text).toBe(`HTTP/1.1 ${status}\r\n${told}Connection: close\r\n\r\n`);
    },
  );

  it('to HEAD have no body when they are ours', async () => {
    const { port } = await startTalker('');
    const text = await ask(request(port, '', 'HEAD').replaceAll('ok.test', 'other.test'));
    expect(text).toMatch(/^HTTP\/1\.1 403 [^]*\r\n\r\n$/);
  });

  it.each([
    ['asks again', 'GET', 'HTTP/1.1 200'],
    ['does not ask again', 'POST', 'HTTP/1.1 502'],
  ])('%s with %s where a kept connection ends without one', async (_, method, second) => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    const port = await kit.serve((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        socket.once('data', () => socket.destroy());
      });
    });
    const client = await kit.dial();
    client.socket.write(request(port, ''));
    expect(await client.until('\r\n\r\nok')).toContain(' 200 ');
    client.socket.write(request(port, '', method));
    expect(await client.until('\r\n\r\n')).toContain(second);
  });
});

describe('heads that can be read in more than one way', () => {
  const rows: [what: string, head: string, status: number][] = [
    ['a bare LF', 'GET http://ok.test/ HTTP/1.1\nHost: ok.test\n\n', 400],
    ['a bare LF before the end', 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\n\r\n', 400],
    ['a bare CR', 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\rX: y\r\n\r\n', 400],
    ['NUL in a field', 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\0.evil.test\r\n\r\n', 400],
    ['NUL in the target', 'CONNECT ok.test\0.evil.test:443 HTTP/1.1\r\n\r\n', 400],
    ['a folded field', 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n evil\r\n\r\n', 400],
    ['a blank before the colon', 'GET http://ok.test/ HTTP/1.1\r\nHost : ok.test\r\n\r\n', 400],
    ['a field without a name', 'GET http://ok.test/ HTTP/1.1\r\n: x\r\nHost: ok.test\r\n\r\n', 400],
    [
      'two Host fields',
      'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n',
      400,
    ],
    ['no Host field', 'GET http://ok.test/ HTTP/1.1\r\n\r\n', 400],
    ['another Host', 'GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n', 400],
    ['another port in Host', 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test:81\r\n\r\n', 400],
    ['userinfo', 'GET http://ok.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n', 403],
    ['userinfo in CONNECT', 'CONNECT ok.test@evil.test:443 HTTP/1.1\r\n\r\n', 400],
    ['an odd number for an address', 'CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n', 400],
    [
      'one number for an address',
      'GET http://2130706433/ HTTP/1.1\r\nHost: 2130706433\r\n\r\n',
      403,
    ],
    ['a letter that folds to ASCII', 'CONNECT o\u00eb.test:443 HTTP/1.1\r\n\r\n', 400],
    ['a fragment', 'GET http://ok.test/#@evil.test HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    [
      'a backslash for a slash',
      'GET http://ok.test\\.evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n',
      403,
    ],
    ['https without CONNECT', 'GET https://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['a path alone', 'GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/0.9', 'GET http://ok.test/\r\n\r\n', 400],
    ['two blanks', 'GET  http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['a tab for a blank', 'GET\thttp://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['empty lines first', '\r\nGET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    [
      'Content-Length and Transfer-Encoding',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'two lengths',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd',
      400,
    ],
    [
      'a list of lengths',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 4, 4\r\n\r\n',
      400,
    ],
    [
      'a signed length',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: +4\r\n\r\n',
      400,
    ],
    [
      'a hidden coding',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: \x0bchunked\r\n\r\n',
      400,
    ],
    [
      'another coding',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
      501,
    ],
    [
      'a coding twice',
      'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n',
      501,
    ],
    [
      'a coding in HTTP/1.0',
      'POST http://ok.test/ HTTP/1.0\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a body behind CONNECT', 'CONNECT ok.test:443 HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd', 400],
    [
      'CONNECT with another Host',
      'CONNECT ok.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n',
      400,
    ],
    ['CONNECT without a port', 'CONNECT ok.test HTTP/1.1\r\n\r\n', 400],
    ['CONNECT to port 0', 'CONNECT ok.test:0 HTTP/1.1\r\n\r\n', 400],
    ['CONNECT to port 65537', 'CONNECT ok.test:65537 HTTP/1.1\r\n\r\n', 400],
    [
      'a head that is too long',
      `GET http://ok.test/ HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      431,
    ],
    ['a line that never ends', `GET ${'x'.repeat(40_000)}`, 431],
    ['too many fields', `GET http://ok.test/ HTTP/1.1\r\n${'X: y\r\n'.repeat(200)}\r\n`, 431],
    ['TLS at the proxy', '\x16\x03\x01\x00\x05hello\n', 400],
  ];

  it.each(rows)('refuses %s and dials nothing', async (_, head, status) => {
    kit = await new DoorKit(['ok.test', 'evil.test']).open();
    let lookups = 0;
    kit.hosts.get = () => (lookups++, ['127.0.0.1']);
    expect((await ask(head)).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(lookups).toBe(0);
  });
});

describe('bodies that can be read in more than one way', () => {
  const rows: [what: string, body: string][] = [
    ['an extension', '3;x=y\r\nabc\r\n0\r\n\r\n'],
    ['a bare LF behind a size', '3\nabc\r\n0\r\n\r\n'],
    ['a bare LF behind a chunk', '3\r\nabc\n0\r\n\r\n'],
    ['a size with a sign', '+3\r\nabc\r\n0\r\n\r\n'],
    ['a size with 0x', '0x3\r\nabc\r\n0\r\n\r\n'],
    ['a size that overflows', '100000003\r\nabc\r\n0\r\n\r\n'],
    ['a chunk longer than it says', '2\r\nabc\r\n0\r\n\r\n'],
    ['a blank line for a size', '\r\n3\r\nabc\r\n0\r\n\r\n'],
    ['a trailer', '3\r\nabc\r\n0\r\nX: y\r\n\r\n'],
  ];

  it.each(rows)('breaks off at %s, before what is hidden behind it', async (_, body) => {
    kit = await new DoorKit(['ok.test']).open();
    kit.hosts.set('ok.test', ['127.0.0.1']);
    let got = '';
    const port = await kit.serve((socket) =>
      socket.on('data', (chunk: Buffer) => (got += chunk.toString('latin1'))),
    );
    const text = await ask(
      `POST http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${body}GET http://evil.test/hidden HTTP/1.1\r\nHost: evil.test\r\n\r\n`,
    );
    expect(text).toContain(' 400 ');
    expect(got).not.toContain('hidden');
    expect(got).not.toContain('0\r\n\r\n');
  });

  it('takes what is behind a body for a request of its own', async () => {
    const port = await open();
    const text = await ask(
      `POST http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nContent-Length: 5\r\n\r\nhello` +
        'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n',
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
  });
});

describe('limits', () => {
  it('sends a head away that takes too long', async () => {
    kit = await new DoorKit([]).open({ limits: { headMs: 100 } });
    expect(await ask('GET http://ok')).toContain(' 408 ');
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
    expect(await ask('CONNECT ok.test:2 HTTP/1.1\r\n\r\n')).toContain(' 503 ');
  });
});
