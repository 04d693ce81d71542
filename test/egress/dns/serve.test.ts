import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serveTcp, type TcpLimits } from '../../../src/egress/dns/serve-tcp.ts';
import { serveUdp } from '../../../src/egress/dns/serve-udp.ts';
import { type HarnessOptions, makeHarness } from './harness.ts';
import { packQuery, readAnswer } from './messages.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanUps.splice(0).toReversed()) clean();
});

async function openUdp(): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  cleanUps.push(() => socket.close());
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
}

async function openTcp(
  options: HarnessOptions,
  limits: Partial<TcpLimits> = {},
  { filter } = makeHarness(options),
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true });
  cleanUps.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service = serveTcp(server, filter, limits);
  cleanUps.push(() => service.close());
  return server;
}

function dial(server: Server): Socket {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  cleanUps.push(() => socket.destroy());
  return socket;
}

function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Everything until the other side ends. */
async function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (bytes) => parts.push(bytes));
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts);
}

function splitFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16BE(at);
    frames.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return frames;
}

describe('serveUdp()', () => {
  it("satisfies node's own resolver", async () => {
    const socket = await openUdp();
    serveUdp(socket, makeHarness({ allow: ['a.example', '*.b.example'] }).filter);
    const resolver = new dns.Resolver({ timeout: 2000, tries: 1 });
    resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    expect(await resolver.resolve4('a.example', { ttl: true })).toEqual([
      { address: '198.18.0.1', ttl: 5 },
    ]);
    expect(await resolver.resolve4('x.b.example')).toEqual(['198.18.0.2']);
    expect(await resolver.reverse('198.18.0.2')).toEqual(['x.b.example']);
    expect(await resolver.resolve6('localhost')).toEqual(['::1']);
    await expect(resolver.resolve6('a.example')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolve4('c.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolveTxt('c.example')).rejects.toMatchObject({ code: 'EREFUSED' });
  });

  it('goes on after noise, and after thousands of questions that nobody waits for', async () => {
    const socket = await openUdp();
    serveUdp(socket, makeHarness({ allow: ['a.example'] }).filter);
    const client = await openUdp();
    const { port } = socket.address();
    const send = async (bytes: Buffer): Promise<void> => {
      await new Promise<void>((resolve) => client.send(bytes, port, '127.0.0.1', () => resolve()));
    };
    await send(Buffer.alloc(0));
    await send(Buffer.alloc(40_000, 0xff));
    for (let at = 0; at < 3000; at++) await send(packQuery(`n${at}.other`, { id: 1 }));
    const answered = new Promise<Buffer>((resolve) => {
      client.on('message', (bytes) => {
        if (bytes.readUInt16BE(0) === 7) resolve(bytes);
      });
    });
    // The kernel throws away what does not fit into the socket's buffer, so one may be lost.
    const timer = setInterval(() => void send(packQuery('a.example', { id: 7 })), 50);
    cleanUps.push(() => clearInterval(timer));
    expect(readAnswer(await answered).records.length).toBe(1);
  });
});

describe('serveUdp(), in a flood', () => {
  it('answers some, and tells of one for all that it does not answer', async () => {
    const socket = await openUdp();
    const { filter, facts } = makeHarness({ allow: ['a.example'] });
    serveUdp(socket, filter, { spanMs: 60_000, inSpan: 3 });
    const client = await openUdp();
    for (let at = 0; at < 10; at++)
      client.send(packQuery('a.example'), socket.address().port, '127.0.0.1');
    await vi.waitFor(() => expect(facts.length).toBe(4), { timeout: 5000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(facts.map(({ answer }) => answer)).toEqual(expect.arrayContaining(['NOERROR', 'none']));
    expect(facts.filter(({ answer }) => answer === 'none')).toMatchObject([
      { name: 'a.example', verdict: { reason: 'it came in a flood of questions' } },
    ]);
  });
});

describe('serveTcp()', () => {
  it('answers questions in pieces and in heaps, and ends when the program does', async () => {
    const server = await openTcp({ allow: ['*.example'] }, { atOnce: 2 });
    const socket = dial(server);
    const heap = Buffer.concat(
      Array.from({ length: 20 }, (_, at) => frame(packQuery(`n${at}.example`, { id: at }))),
    );
    socket.write(heap.subarray(0, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(heap.subarray(1, 50));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.end(heap.subarray(50));
    const answers = splitFrames(await readAll(socket)).map(readAnswer);
    expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    expect(answers.every(({ records }) => records.length === 1)).toBe(true);
  });

  it('cuts off who sends a byte now and then', async () => {
    const server = await openTcp({ allow: ['a.example'] }, { questionMs: 150 });
    const socket = dial(server);
    const bytes = frame(packQuery('a.example'));
    let at = 0;
    const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 40);
    cleanUps.push(() => clearInterval(timer));
    const startMs = performance.now();
    expect((await readAll(socket)).length).toBe(0);
    expect(performance.now() - startMs).toBeLessThan(1000);
  });

  it('cuts off who announces a long message, or sends an answer, and tells of it', async () => {
    const allow = ['a.example'];
    const harness = makeHarness({ allow });
    const server = await openTcp({ allow }, {}, harness);
    const long = dial(server);
    long.write(Buffer.from([0xff, 0xff, 0]));
    expect((await readAll(long)).length).toBe(0);
    const answer = dial(server);
    answer.write(frame(packQuery('a.example', { flags: 0x8100 })));
    expect((await readAll(answer)).length).toBe(0);
    expect(harness.facts.map(({ name }) => name)).toEqual(['unread', 'unread']);
  });

  it('cuts off who asks and does not fetch', async () => {
    const server = await openTcp({ allow: ['a.example'] });
    const socket = dial(server);
    socket.pause();
    const heap = Buffer.concat(Array.from({ length: 5000 }, () => frame(packQuery('a.example'))));
    const closed = new Promise((resolve) => {
      server.once('connection', (one) => one.once('close', resolve));
    });
    for (let at = 0; at < 40; at++) socket.write(heap);
    await closed;
  });

  it('sends away more connections than it can hold, and takes new ones after that', async () => {
    const server = await openTcp({ allow: ['a.example'] }, { connections: 2 });
    const [first, second] = [dial(server), dial(server)];
    await Promise.all([first, second].map((one) => new Promise((done) => one.on('connect', done))));
    const third = dial(server);
    expect((await readAll(third)).length).toBe(0);
    first.end(frame(packQuery('a.example')));
    expect(splitFrames(await readAll(first)).length).toBe(1);
    const fourth = dial(server);
    fourth.end(frame(packQuery('a.example')));
    expect(splitFrames(await readAll(fourth)).length).toBe(1);
  });
});
