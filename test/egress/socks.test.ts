import { afterEach, describe, expect, it } from 'vitest';
import { type Client, DoorKit } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

const GREETING = [5, 1, 0];
function byName(name: string, port: number): number[] {
  const host = Buffer.from(name, 'latin1');
  return [5, 1, 0, 3, host.length, ...host, port >> 8, port & 255];
}

async function greet(bytes: readonly number[] = GREETING): Promise<Client> {
  const client = await kit.dial();
  client.socket.write(Buffer.from(bytes));
  return client;
}

async function request(bytes: readonly number[]): Promise<{ client: Client; code: number }> {
  const client = await greet();
  expect([...(await client.take(2))]).toEqual([5, 0]);
  client.socket.write(Buffer.from(bytes));
  const reply = await client.take(10);
  return { client, code: reply[1] ?? -1 };
}

async function open(): Promise<number> {
  kit = await new DoorKit(['ok.test', 'lost.test', '127.0.0.1']).open();
  kit.hosts.set('ok.test', ['127.0.0.1']);
  return kit.echo();
}

describe('SOCKS 5', () => {
  it('connects to names and to addresses', async () => {
    const port = await open();
    const v4 = [5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255];
    const mapped = [5, 1, 0, 4, ...Array<number>(10).fill(0), 255, 255, ...v4.slice(4)];
    for (const bytes of [byName('OK.test.', port), byName('127.0.0.1', port), v4, mapped]) {
      const { client, code } = await request(bytes);
      expect(code).toBe(0);
      client.socket.end('\x01hello');
      expect(await client.rest()).toBe('\x01hello');
    }
    const hosts = kit.facts.map(({ destination }) => destination.name ?? destination.address);
    expect(hosts).toEqual(['ok.test', '127.0.0.1', '127.0.0.1', '127.0.0.1']);
    expect(kit.facts[0]).toMatchObject({ door: 'socks', sent: 6, received: 6, outcome: 'ok' });
  });

  it('takes everything at once, and byte by byte', async () => {
    const port = await open();
    const all = [...GREETING, ...byName('ok.test', port), 1, 2, 3];
    const eager = await greet(all);
    expect((await eager.take(15)).toString('hex')).toBe('050005000001000000000000010203');
    const slow = await kit.dial();
    for (const byte of all) {
      slow.socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect((await slow.take(15)).toString('hex')).toBe('050005000001000000000000010203');
  });

  it.each([
    ['what no rule allows', byName('evil.test', 80), 2],
    ['a name that is not found', byName('lost.test', 80), 4],
    ['a port where nobody listens', byName('ok.test', 1), 5],
    ['BIND', [5, 2, 0, 1, 127, 0, 0, 1, 0, 80], 7],
    ['UDP ASSOCIATE', [5, 3, 0, 1, 127, 0, 0, 1, 0, 80], 7],
    ['a kind of address that is none', [5, 1, 0, 2, 127, 0, 0, 1, 0, 80], 8],
    ['a NUL in a name', byName('ok.test\0.evil.test', 80), 2],
    ['an odd number for an address', byName('0x7f000001', 80), 2],
    ['port 0', byName('ok.test', 0), 2],
  ])('refuses %s', async (_, bytes, expected) => {
    await open();
    const { client, code } = await request(bytes);
    expect(code).toBe(expected);
    expect(await client.rest()).toBe('');
    expect(kit.facts).toHaveLength(1);
  });

  it('offers no password', async () => {
    await open();
    const client = await greet([5, 1, 2]);
    expect(await client.rest()).toBe('\x05\xff');
    expect(kit.facts).toMatchObject([{ destination: { name: 'unread' }, outcome: 'refused' }]);
  });

  it('ends what is not SOCKS after the greeting', async () => {
    await open();
    const client = await greet();
    await client.take(2);
    client.socket.write('GET / HTTP/1.1\r\n\r\n');
    expect(['', 'reset']).toContain(await client.rest());
  });

  it('ends a greeting that takes too long', async () => {
    kit = await new DoorKit([]).open({ limits: { headMs: 50 } });
    const client = await greet([5, 200, 0]);
    expect(await client.rest()).toBe('');
  });
});

it('SOCKS 4 is refused in its own words', async () => {
  await open();
  const client = await greet([4, 1, 0, 80, 127, 0, 0, 1, 0]);
  expect(await client.rest()).toBe('\0\x5b\0\0\0\0\0\0');
  expect(kit.facts).toMatchObject([{ destination: { name: 'unread' }, outcome: 'refused' }]);
});
