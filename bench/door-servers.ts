// The servers that are compared, each in a process of its own. Bundled when the benchmark runs.
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { EgressRules, Verdict } from '../src/egress/egress.ts';
import { serveDoors } from '../src/egress/serve-doors.ts';

const NAME = 'ok.test';
const ALLOWED: Verdict = { isAllowed: true, rule: '--allow-net ok.test' };
const OPTIONS = { allowHalfOpen: true, noDelay: true } as const;

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host, backlog: 1024 }, resolve));
  return (server.address() as AddressInfo).port;
}

/** Answers one byte with one, and `\x02` with as many MiB as the next byte says. */
function serveUpstream(): Server {
  const block = Buffer.alloc(1 << 20, 7);
  return createServer(OPTIONS, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      if (chunk[0] !== 2) return void socket.write(chunk);
      let left = chunk[1] ?? 1;
      const more = (): void => {
        while (left-- > 0) if (!socket.write(block)) return void socket.once('drain', more);
        socket.end();
      };
      more();
    });
    socket.on('end', () => socket.end());
  });
}

/** As short as a CONNECT proxy in node can be. */
function servePlainProxy(): Server {
  const server = createHttpServer({ noDelay: true });
  server.on('connect', (request, client, head) => {
    const at = (request.url ?? '').lastIndexOf(':');
    const port = Number(request.url?.slice(at + 1));
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true }, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  return server;
}

function serveRelay(port: number): Server {
  return createServer(OPTIONS, (client) => {
    const upstream = connect({ host: '127.0.0.1', port, ...OPTIONS }, () => {
      client.pipe(upstream);
      upstream.pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
}

/** The transparent door leads by a fake address to the name at the same port, so the upstream's port is put in here. */
function serveOurs(upstreamPort: number): { proxy: Server; transparent: Server } {
  const rules: EgressRules = {
    decideName: () => ALLOWED,
    decide: () => ALLOWED,
    decideAddress: () => ALLOWED,
    decideRequest: () => ALLOWED,
    isInspected: () => false,
    onChange: () => undefined,
  };
  const doors = { proxy: createServer(OPTIONS), transparent: createServer(OPTIONS) };
  doors.transparent.prependListener('connection', (socket) => {
    Object.defineProperty(socket, 'localPort', { value: upstreamPort });
  });
  serveDoors(
    { proxy: doors.proxy, transparent: [doors.transparent] },
    {
      rules,
      names: { addressOf: () => undefined, nameOf: () => NAME },
      resolver: {
        lookup: async () => await Promise.resolve({ kind: 'found', addresses: ['127.0.0.1'] }),
        doubt: () => undefined,
        prepare: async () => undefined,
      },
      log: { question: () => undefined, connection: () => undefined },
    },
  );
  return doors;
}

const [, , kind, upstream] = process.argv;
const port = Number(upstream);
const ports: Record<string, number> = {};
if (kind === 'upstream') ports['upstream'] = await listen(serveUpstream());
if (kind === 'plain') ports['plain'] = await listen(servePlainProxy());
if (kind === 'relay') ports['relay'] = await listen(serveRelay(port));
if (kind === 'ours') {
  const { proxy, transparent } = serveOurs(port);
  ports['proxy'] = await listen(proxy);
  ports['transparent'] = await listen(transparent);
}
process.stdout.write(`${JSON.stringify(ports)}\n`);
// The benchmark's end is seen here, however it ended.
process.stdin.resume().on('end', () => process.exit());
