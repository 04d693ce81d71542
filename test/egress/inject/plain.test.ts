import { afterEach, describe, expect, it } from 'vitest';
import { allow, InjectKit, injectInto, SECRET } from './inject-kit.ts';

let kit: InjectKit;
afterEach(async () => kit.close());

async function open(inject = [injectInto('api.test')]): Promise<number> {
  const net = [allow('api.test'), allow('other.test')];
  kit = await new InjectKit().open({ net, inject });
  return kit.serve();
}

/** Sends to the proxy, and returns all that comes back. */
async function ask(text: string): Promise<string> {
  const client = await kit.door.dial();
  client.socket.end(text, 'latin1');
  return client.rest();
}

async function askInTunnel(target: string, text: string): Promise<string> {
  const client = await kit.door.tunnel(target);
  client.socket.end(text, 'latin1');
  return client.rest();
}

describe('a header for a host, over plain HTTP', () => {
  it('is added, and the program is told nothing of it', async () => {
    const port = await open();
    const back = await ask(
      `GET http://api.test:${port}/x HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`,
    );
    expect(kit.values()).toEqual([SECRET]);
    expect(back).toContain('answer');
    expect(back).not.toContain(SECRET);
    expect(JSON.stringify([kit.door.facts])).not.toContain(SECRET);
  });

  it.each(['Authorization', 'AUTHORIZATION', 'authorization'])(
    'takes the place of what the program sends as %s, however often',
    async (name) => {
      const port = await open();
      const forged = `${name}: forged\r\n${name}: again\r\n`;
      await ask(`GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n${forged}\r\n`);
      expect(kit.values()).toEqual([SECRET]);
    },
  );

  it('takes the place of a name that servers read as the same', async () => {
    const port = await open([injectInto('api.test', { header: 'X-Api-Key' })]);
    const head = `GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n`;
    await ask(`${head}X_Api_Key: forged\r\nx-api_key: forged\r\n\r\n`);
    expect(kit.seen[0]?.headers).toMatchObject({ 'x-api-key': SECRET });
    expect(JSON.stringify(kit.seen)).not.toContain('forged');
  });

  it('stays although the program asks for it to be dropped on the way', async () => {
    const port = await open();
    const head = `GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n`;
    await ask(`${head}Connection: Authorization, close\r\nAuthorization: forged\r\n\r\n`);
    expect(kit.values()).toEqual([SECRET]);
  });

  it('is added through a tunnel, and in HTTP/1.0 without a Host', async () => {
    const port = await open();
    await askInTunnel(`api.test:${port}`, 'GET / HTTP/1.0\r\n\r\n');
    await askInTunnel(`api.test:${port}`, `GET / HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`);
    expect(kit.values()).toEqual([SECRET, SECRET]);
  });

  it.each(['TRACE', 'TRACK', 'trace'])(
    'is not added to %s, which would send it back',
    async (method) => {
      const port = await open();
      await ask(`${method} http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`);
      expect(kit.values().filter(Boolean)).toEqual([]);
    },
  );

  it('of an entry for TLS is never sent in the clear', async () => {
    const port = await open([injectInto('api.test', { isTlsOpened: true })]);
    await ask(`GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`);
    expect(kit.values()).toEqual([undefined]);
  });
});

describe('a header for one host', () => {
  it('goes to no other, on one connection or on several', async () => {
    const port = await open();
    const at = (host: string): string =>
      `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`;
    await ask(at('other.test') + at('api.test') + at('other.test') + at('api.test'));
    expect(kit.values()).toEqual([undefined, SECRET, undefined, SECRET]);
    expect(kit.seen.map(({ headers }) => headers['host'])).toEqual(
      ['other.test', 'api.test', 'other.test', 'api.test'].map((host) => `${host}:${port}`),
    );
  });

  it('does not follow a redirect', async () => {
    const port = await open();
    const where = encodeURIComponent(`http://other.test:${port}/`);
    const back = await ask(
      `GET http://api.test:${port}/go?${where} HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`,
    );
    expect(back).toContain(`http://other.test:${port}/`);
    await ask(`GET http://other.test:${port}/ HTTP/1.1\r\nHost: other.test:${port}\r\n\r\n`);
    expect(kit.values()).toEqual([SECRET, undefined]);
  });

  it.each([
    [
      'absolute form to one host, Host of the other',
      'GET http://other.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT',
    ],
    ['the same the other way round', 'GET http://api.test:PORT/ HTTP/1.1\r\nHost: other.test:PORT'],
    [
      'two Host fields',
      'GET http://other.test:PORT/ HTTP/1.1\r\nHost: other.test:PORT\r\nHost: api.test:PORT',
    ],
    ['userinfo', 'GET http://api.test:PORT@other.test:PORT/ HTTP/1.1\r\nHost: other.test:PORT'],
    [
      'a blank before the colon',
      'GET http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nAuthorization : x',
    ],
    [
      'a folded line',
      'GET http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nX: y\r\n Authorization: x',
    ],
    [
      'a bare line feed',
      'GET http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nX: y\nAuthorization: x',
    ],
    [
      'a bare carriage return',
      'GET http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nX: y\rAuthorization: x',
    ],
    [
      'two lengths',
      'POST http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nContent-Length: 0\r\nContent-Length: 4',
    ],
    [
      'a length and chunks',
      'POST http://api.test:PORT/ HTTP/1.1\r\nHost: api.test:PORT\r\nContent-Length: 4\r\nTransfer-Encoding: chunked',
    ],
  ])('goes nowhere when a request can be read in two ways: %s', async (_, head) => {
    const port = await open();
    const back = await ask(`${head.replaceAll('PORT', String(port))}\r\n\r\n`);
    expect(back).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(back).not.toContain(SECRET);
    expect(kit.seen).toEqual([]);
  });

  it('does not reach a request that is hidden in the body of another', async () => {
    const port = await open();
    const hidden = `GET / HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`;
    await ask(
      `POST http://other.test:${port}/ HTTP/1.1\r\nHost: other.test:${port}\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    );
    expect(kit.seen.map(({ method }) => method)).toEqual(['POST']);
    expect(kit.values()).toEqual([undefined]);
  });

  it('is not had by naming it as Host in a tunnel to another', async () => {
    const port = await open();
    const back = await askInTunnel(
      `other.test:${port}`,
      `GET / HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`,
    );
    expect(back).not.toContain(SECRET);
    expect(kit.values().filter(Boolean)).toEqual([]);
  });
});
