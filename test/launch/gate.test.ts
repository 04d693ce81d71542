import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Gate } from '../../src/launch/gate.ts';

let gate: Gate;
let letIn: number[];
const clients: Socket[] = [];

beforeEach(async () => {
  gate = await Gate.open((error) => {
    throw error;
  });
  letIn = [];
  gate.inner.on('connection', (socket: Socket) => {
    letIn.push(socket.remotePort ?? 0);
    socket.end('welcome');
  });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  gate.close();
});

async function knock(localAddress = '127.0.0.1', localPort = 0): Promise<Socket> {
  const client = connect({ host: '127.0.0.1', port: gate.port, localAddress, localPort });
  clients.push(client);
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function read(client: Socket): Promise<string> {
  let text = '';
  client.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await once(client, 'close');
  return text;
}

describe('a gate', () => {
  it('lets in who is announced, before or after he knocks', async () => {
    const late = await knock();
    gate.announce(late.localPort ?? 0);
    expect(await read(late)).toBe('welcome');
    const port = await findFreePort();
    gate.announce(port);
    expect(await read(await knock('127.0.0.1', port))).toBe('welcome');
    expect(letIn).toHaveLength(2);
  });

  it('sends everybody else away', async () => {
    const stranger = await knock();
    const guest = await knock();
    const port = guest.localPort ?? 0;
    gate.announce(port);
    expect(await read(guest)).toBe('welcome');
    expect(await read(stranger)).toBe('');
    expect(letIn).toEqual([port]);
  });

  it('takes no other address for the one that was announced', async () => {
    const guest = await knock();
    const port = guest.localPort ?? 0;
    const stranger = await knock('127.0.0.2', port);
    expect(await read(stranger)).toBe('');
    gate.announce(port);
    expect(await read(guest)).toBe('welcome');
  });

  it('lets in one for each announcement', async () => {
    const guest = await knock();
    const port = guest.localPort ?? 0;
    gate.announce(port);
    await read(guest);
    const again = await knock();
    expect(await read(again)).toBe('');
    expect(letIn).toEqual([port]);
  });
});
