import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, DoorKit, pause } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

async function open(...args: Parameters<DoorKit['open']>): Promise<void> {
  kit = await new DoorKit(['ok.test', '127.0.0.1']).open(...args);
  kit.hosts.set('ok.test', ['127.0.0.1']);
}

/** What the upstream has of a connection. */
interface Seen {
  socket: Socket;
  text: string;
  ended: string;
}

async function watch(): Promise<{ port: number; seen: Promise<Seen> }> {
  let found: (seen: Seen) => void = () => undefined;
  const seen = new Promise<Seen>((resolve) => (found = resolve));
  const port = await kit.serve((socket) => {
    const one = { socket, text: '', ended: '' };
    socket.on('data', (chunk: Buffer) => (one.text += chunk.toString()));
    socket.on('end', () => (one.ended ||= 'end'));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (one.ended = code ?? ''));
    found(one);
  });
  return { port, seen };
}

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !check(); tries++) await pause(10);
  expect(check()).toBe(true);
}

describe('a tunnel', () => {
  it('keeps each half open by itself', async () => {
    await open();
    const { port, seen } = await watch();
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.end('\x01question');
    const upstream = await seen;
    await eventually(() => upstream.ended === 'end');
    expect(upstream.text).toBe('\x01question');
    upstream.socket.write('answer, ');
    await pause(50);
    upstream.socket.end('and more');
    expect(await client.rest()).toBe('answer, and more');
    expect(await kit.fact()).toMatchObject({ sent: 9, received: 16, outcome: 'ok' });
  });

  it('lets the server end first and the program talk on', async () => {
    await open();
    const { port, seen } = await watch();
    const client = await kit.tunnel(`ok.test:${port}`);
    const upstream = await seen;
    upstream.socket.end('bye');
    expect(await client.rest()).toBe('bye');
    client.socket.write('\x01still');
    await eventually(() => upstream.text === '\x01still');
    client.socket.end();
    await eventually(() => upstream.ended === 'end');
  });

  it('passes a reset on as a reset, either way', async () => {
    await open();
    const first = await watch();
    const reset = await kit.tunnel(`ok.test:${first.port}`);
    (await first.seen).socket.resetAndDestroy();
    expect(await reset.rest()).toBe('reset');

    const second = await watch();
    const client = await kit.tunnel(`ok.test:${second.port}`);
    const upstream = await second.seen;
    client.socket.write('\x01');
    await eventually(() => upstream.text !== '');
    client.socket.resetAndDestroy();
    await eventually(() => upstream.ended === 'ECONNRESET');
  });

  it('is cut when the rule is taken back, and others are not', async () => {
    await open();
    const port = await kit.echo();
    const cut = await kit.tunnel(`ok.test:${port}`);
    const kept = await kit.tunnel(`127.0.0.1:${port}`);
    kit.rules.revoke('ok.test');
    expect(await cut.rest()).toBe('reset');
    expect(await kit.fact()).toMatchObject({ note: 'cut: no rule allows it any more' });
    kept.socket.write('x');
    expect((await kept.take(1)).toString()).toBe('x');
  });

  it('lives on while nothing is said', async () => {
    await open({ limits: { headMs: 50, idleMs: 50 } });
    const port = await kit.echo();
    const client = await kit.tunnel(`ok.test:${port}`);
    await pause(400);
    client.socket.write('x');
    expect((await client.take(1)).toString()).toBe('x');
    await pause(400);
    client.socket.end('y');
    expect(await client.rest()).toBe('y');
  });

  it('carries 64 MiB byte for byte, and holds little of it', async () => {
    await open();
    const block = randomBytes(1 << 20);
    const digest = createHash('sha256');
    const port = await kit.serve((socket) => {
      let left = 64;
      const more = (): void => {
        while (left-- > 0) if (!socket.write(block)) return void socket.once('drain', more);
        socket.end();
      };
      socket.once('data', more);
    });
    for (let count = 0; count < 64; count++) digest.update(block);
    const { socket } = await kit.tunnel(`ok.test:${port}`);
    socket.removeAllListeners('data');
    socket.pause();
    socket.write('\x01');
    const base = process.memoryUsage().rss;
    // The reader sleeps for a while: what is sent meanwhile has to wait at its sender.
    await pause(300);
    expect(process.memoryUsage().rss - base).toBeLessThan(32 * (1 << 20));
    const got = createHash('sha256');
    let size = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      got.update(chunk);
      size += chunk.length;
    }
    socket.end(); // not every version of node does, where the reading comes to its end
    expect(size).toBe(64 * block.length);
    expect(got.digest('hex')).toBe(digest.digest('hex'));
    expect((await kit.fact()).received).toBe(size);
  });
});

describe('many connections', () => {
  it('a thousand at once are all served', async () => {
    await open();
    const port = await kit.echo();
    const talk = async (number: number): Promise<Client> => {
      const client = await kit.tunnel(`ok.test:${port}`);
      client.socket.write(`\x01${number};`);
      expect(await client.until(';')).toBe(`\x01${number};`);
      return client;
    };
    const clients = await Promise.all(Array.from({ length: 1000 }, (_, at) => talk(at)));
    // Every one of them is still there while all the others are.
    for (const { socket } of clients) socket.end('x');
    for (const client of clients) expect(await client.rest()).toBe('x');
    await kit.fact(1000);
    expect(kit.facts.every(({ sent, outcome }) => sent > 3 && outcome === 'ok')).toBe(true);
  });

  it('dead upstreams keep nobody else waiting', async () => {
    await open({ limits: { dialMs: 20_000 } });
    // One whose queue is full, so that a dial gets no answer, and one that takes connections and says nothing.
    const full = await startFull();
    const silent = await kit.serve((socket) => socket.pause());
    const port = await kit.echo();
    const stuck: Client[] = [];
    for (let count = 0; count < 100; count++) {
      const client = await kit.dial();
      client.socket.write(`CONNECT ok.test:${full} HTTP/1.1\r\n\r\n`);
      stuck.push(client);
      const deaf = await kit.tunnel(`ok.test:${silent}`);
      deaf.socket.write(Buffer.alloc(1 << 18, 1));
    }
    const from = performance.now();
    const client = await kit.tunnel(`ok.test:${port}`);
    client.socket.end('x');
    expect(await client.rest()).toBe('x');
    expect(performance.now() - from).toBeLessThan(2000);
    expect(stuck.at(-1)?.text).toBe('');
  });
});

/** A listener that accepts nobody, with its queue full: the kernel drops what else comes. */
async function startFull(): Promise<number> {
  const { spawn } = await import('node:child_process');
  const script = `import socket,sys,time
s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(0)
print(s.getsockname()[1],flush=True); sys.stdin.read()`;
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(() => child.kill('SIGKILL'));
  const [data] = (await new Promise((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve([chunk]));
  })) as [Buffer];
  const port = Number(data.toString());
  for (let count = 0; count < 4; count++) kit.track(connect({ port, host: '127.0.0.1' }));
  await pause(100);
  return port;
}

const children: (() => void)[] = [];
afterEach(() => children.splice(0).forEach((end) => end()));
