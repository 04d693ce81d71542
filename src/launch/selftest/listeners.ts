import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';

export interface Listeners {
  /** 0 where this host cannot listen. */
  readonly ports: { readonly tcpPort: number; readonly tcp6Port: number; readonly udpPort: number };
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly socketPath: string;
  readonly abstractName: string;
  readonly received: Set<string>;
}

type Place = { readonly path: string } | { readonly host: string; readonly port: 0 };

function listen(server: Server, place: Place): Promise<number> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(0)); // no IPv6, or no abstract names: nothing to attack there
    server.listen(place, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}

function bindUdp(socket: UdpSocket): Promise<number> {
  return new Promise((resolve) => {
    socket.once('error', () => resolve(0));
    socket.bind(0, '127.0.0.1', () => resolve(socket.address().port));
  });
}

/** The doors of the host that attacks knock at. Loopback and local sockets only. */
export async function openListeners({
  socketPath,
  abstractName,
  received,
}: ListenerOptions): Promise<Listeners> {
  const sockets = new Set<Socket>();
  const note = (via: string) => (data: Buffer) =>
    void received.add(`${via} ${data.toString('latin1')}`);
  const makeServer = (via: string): Server =>
    createServer((socket) => {
      sockets.add(socket);
      socket.on('data', note(via)).on('error', () => {}); // a program that is ended in mid-sentence
    });
  const servers = {
    tcp: makeServer('tcp'),
    tcp6: makeServer('tcp6'),
    unix: makeServer('unix'),
    abstract: makeServer('abstract'),
  };
  const udp = createSocket('udp4').on('message', note('udp'));
  const tcpPort = await listen(servers.tcp, { host: '127.0.0.1', port: 0 });
  const tcp6Port = await listen(servers.tcp6, { host: '::1', port: 0 });
  await listen(servers.unix, { path: socketPath });
  await listen(servers.abstract, { path: `\0${abstractName}` });
  const udpPort = await bindUdp(udp);
  return {
    ports: { tcpPort, tcp6Port, udpPort },
    async close() {
      for (const socket of sockets) socket.destroy();
      const closing = Object.values(servers).map(
        (server) => new Promise((done) => server.close(done)),
      );
      closing.push(new Promise((done) => udp.close(() => done(undefined))));
      await Promise.all(closing);
    },
  };
}
