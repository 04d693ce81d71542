import { afterEach, describe, expect, it } from 'vitest';
import { DoorKit } from './door-kit.ts';
import { ask, startUpstream } from './http-client.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

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

  it.each(rows)('refuses %s, dials nothing and tells of it', async (_, head, status) => {
    kit = await new DoorKit(['ok.test', 'evil.test']).open();
    let lookups = 0;
    kit.hosts.get = () => (lookups++, ['127.0.0.1']);
    expect((await ask(kit, head)).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(lookups).toBe(0);
    expect(kit.facts).toMatchObject([{ outcome: 'refused', verdict: { isAllowed: false } }]);
  });

  it.each([
    ['CONNECT evil.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n', 'evil.test:443'],
    ['CONNECT evil.test:22 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello', 'evil.test:22'],
    ['GET https://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n', 'evil.test:443'],
    ['GET http://evil.test:81/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 'evil.test:81'],
    ['GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n', 'evil.test:80'],
    ['GET / HTTP/1.0\r\n\r\n', 'unread:0'],
    ['GET https://evil.test@1/ HTTP/1.1\r\nHost: ok.test\r\n\r\n', 'evil.test@1:0'],
    ['GET http://evil.test/ HTTP/1.1\nHost: evil.test\n\n', 'unread:0'],
  ])('says where it was to go, as far as it can be read: %j', async (head, expected) => {
    kit = await new DoorKit(['ok.test']).open();
    expect((await ask(kit, head)).slice(0, 12)).toBe('HTTP/1.1 400');
    const [{ name, port } = {}] = kit.facts.map(({ destination }) => destination);
    expect(`${name}:${port}`).toBe(expected);
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
      kit,
      `POST http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${body}GET http://evil.test/hidden HTTP/1.1\r\nHost: evil.test\r\n\r\n`,
    );
    expect(text).toContain(' 400 ');
    expect(got).not.toContain('hidden');
    expect(got).not.toContain('0\r\n\r\n');
  });

  it('takes what is behind a body for a request of its own', async () => {
    kit = await new DoorKit(['ok.test']).open();
    const port = await startUpstream(kit);
    const text = await ask(
      kit,
      `POST http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nContent-Length: 5\r\n\r\nhello` +
        'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n',
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
  });
});
