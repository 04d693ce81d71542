import { afterEach, describe, expect, it } from 'vitest';
import { type Client, DoorKit } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

/** On loopback every 127.x.y.z is there, so one of them stands for the name. */
const FAKE = '127.18.0.5';

/** The upstream listens at another address of the port that the program asks for. */
async function open(allowed: readonly string[], onConnection = 'echo'): Promise<void> {
  kit = await new DoorKit(allowed).open();
  kit.names.set(FAKE, 'ok.test');
  kit.hosts.set('ok.test', ['::1']);
  const { createServer } = await import('node:net');
  const upstream = createServer({ allowHalfOpen: true }, (socket) => {
    if (onConnection === 'echo') socket.pipe(socket);
    else socket.write('hello');
  });
  await kit.listen(upstream, '::1', kit.transparentPort);
}

const dial = async (address: string): Promise<Client> => kit.dial(kit.transparentPort, address);

describe('a plain connection', () => {
  it('goes to the name that its address stands for', async () => {
    await open(['ok.test']);
    const client = await dial(FAKE);
    const peerPort = client.socket.localPort;
    client.socket.end('\x01ab');
    expect(await client.rest()).toBe('\x01ab');
    expect(await kit.fact()).toMatchObject({
      door: 'transparent',
      destination: { protocol: 'tcp', name: 'ok.test', port: kit.transparentPort },
      address: '::1',
      outcome: 'ok',
      peerPort,
    });
  });

  it('hears a server that speaks first', async () => {
    await open(['ok.test'], 'greet');
    const client = await dial(FAKE);
    expect((await client.take(5)).toString()).toBe('hello');
  });

  it('is reset at once when no rule allows it', async () => {
    await open([]);
    const client = await dial(FAKE);
    expect(await client.rest()).toBe('reset');
    expect(await kit.fact()).toMatchObject({
      outcome: 'refused',
      destination: { name: 'ok.test' },
    });
  });

  it('is reset when the upstream does not answer', async () => {
    await open(['ok.test']);
    kit.hosts.set('ok.test', ['127.0.0.77']);
    // The door itself listens on every address of IPv4, so this one leads back to it.
    const client = await dial(FAKE);
    client.socket.write('x');
    expect(await client.rest()).toBe('reset');
  });

  it('is reset when it is to the door itself, whatever the rules say', async () => {
    await open(['127.0.0.1', 'ok.test']);
    const client = await dial('127.0.0.1');
    expect(await client.rest()).toBe('reset');
    expect(await kit.fact()).toMatchObject({
      outcome: 'refused',
      verdict: { reason: 'a door is not a destination' },
    });
  });
});
