import { afterEach, describe, expect, it } from 'vitest';
import { DoorKit } from './door-kit.ts';
import { ask } from './http-client.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

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
    const text = await ask(kit, request(port, fields, 'POST') + body);
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
    const text = await ask(kit, request(port, 'TE: trailers\r\nConnection: TE, close\r\n'));
    expect(text).toContain('\r\nTrailer: X-Sum\r\n');
    expect(text).toMatch(/\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n$/);
    expect(heads.join('')).toContain('Connection: TE\r\nTE: trailers\r\n');
  });

  it('are broken off at a trailer that is no field', async () => {
    const { port } = await startTalker(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno field\r\n\r\n',
    );
    expect(await ask(kit, request(port, ''))).not.toContain('\r\n0\r\n');
  });

  it.each([
    ['204', 'GET', '204 None', ''],
    ['HEAD', 'HEAD', '200 OK', 'Content-Length: 5\r\n'],
    ['304', 'GET', '304 Same', 'Content-Length: 5\r\n'],
  ])(
    'have no body to %s, and a length only where it may stand',
    async (_, method, status, told) => {
      const { port } = await startTalker(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\n`);
      const text = await ask(kit, request(port, 'Connection: close\r\n', method));
      expect(text).toBe(`HTTP/1.1 ${status}\r\n${told}Connection: close\r\n\r\n`);
    },
  );

  it('to HEAD have no body when they are ours', async () => {
    const { port } = await startTalker('');
    const text = await ask(kit, request(port, '', 'HEAD').replaceAll('ok.test', 'other.test'));
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
