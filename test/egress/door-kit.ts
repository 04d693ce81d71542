import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type {
  ConnectionFact,
  Destination,
  EgressRules,
  SeenRequest,
  Verdict,
} from '../../src/egress/egress.ts';
import type { Resolution } from '../../src/egress/resolver.ts';
import { serveDoors, type ServeDoorsOptions } from '../../src/egress/serve-doors.ts';

/** Rules that can be changed from outside: `name:port`, `address:port` and names with any port. */
export class OpenRules implements EgressRules {
  readonly allowed: Set<string>;
  /** Addresses that names may not lead to. */
  readonly barred = new Set<string>();
  readonly inspected = new Set<string>();
  readonly #listeners: (() => void)[] = [];

  constructor(allowed: readonly string[]) {
    this.allowed = new Set(allowed);
  }

  decideName(name: string): Verdict {
    return this.#judge(name, this.allowed.has(name));
  }

  decide({ name, address, port }: Destination): Verdict {
    const host = name ?? address ?? '';
    return this.#judge(host, this.allowed.has(host) || this.allowed.has(`${host}:${port}`));
  }

  decideAddress(destination: Destination, address: string): Verdict {
    const decided = this.decide(destination);
    if (decided.isAllowed && this.barred.has(address)) return this.#judge(address, false);
    return decided;
  }

  decideRequest(destination: Destination, { method, override }: SeenRequest): Verdict {
    const decided = this.decide(destination);
    const isPlain = method === 'GET' && override === undefined;
    const isOpen = isPlain || !this.isInspected(destination);
    return decided.isAllowed ? this.#judge(method, isOpen) : decided;
  }

  isInspected({ name, address }: Destination): boolean {
    return this.inspected.has(name ?? address ?? '');
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  revoke(text: string): void {
    this.allowed.delete(text);
    for (const listener of this.#listeners) listener();
  }

  #judge(what: string, isAllowed: boolean): Verdict {
    if (isAllowed) return { isAllowed, rule: `policy.yaml:3:5 net.allow: ${what}` };
    return { isAllowed, rule: null, reason: 'no rule allows it', hint: `--allow-net ${what}` };
  }
}

/** Doors and upstreams on loopback, all of which are gone after `close()`. */
export class DoorKit {
  readonly rules: OpenRules;
  readonly facts: ConnectionFact[] = [];
  /** What names resolve to; others are not found. */
  readonly hosts = new Map<string, readonly string[]>();
  /** Addresses that stand for names. */
  readonly names = new Map<string, string>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #stop: (() => unknown) | undefined;
  proxyPort = 0;
  transparentPort = 0;

  constructor(allowed: readonly string[] = []) {
    this.rules = new OpenRules(allowed);
  }

  async open(options: Partial<ServeDoorsOptions> = {}): Promise<this> {
    const proxy = createServer({ allowHalfOpen: true, noDelay: true });
    const transparent = createServer({ allowHalfOpen: true, noDelay: true });
    const service = serveDoors(
      { proxy, transparent: [transparent] },
      {
        rules: this.rules,
        names: { addressOf: () => undefined, nameOf: (address) => this.names.get(address) },
        log: { question: () => undefined, connection: (fact) => void this.facts.push(fact) },
        resolver: {
          lookup: async (name) => this.#lookup(name),
          doubt: () => undefined,
          prepare: async () => undefined,
        },
        ...options,
      },
    );
    this.#stop = () => service.close();
    this.proxyPort = await this.listen(proxy);
    this.transparentPort = await this.listen(transparent, '0.0.0.0');
    return this;
  }

  async listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.track(socket));
    server.listen({ host, port, backlog: 2048 });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** An upstream at a new port, reached by any name that `hosts` leads to 127.0.0.1. */
  async serve(onConnection: (socket: Socket) => void): Promise<number> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    return this.listen(server);
  }

  async echo(): Promise<number> {
    return this.serve((socket) => socket.pipe(socket));
  }

  track(socket: Socket): Socket {
    socket.on('error', () => undefined);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  async dial(port = this.proxyPort, host = '127.0.0.1'): Promise<Client> {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.track(socket);
    const client = new Client(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
    return client;
  }

  /** A tunnel by CONNECT, past its 200. */
  async tunnel(target: string): Promise<Client> {
    const client = await this.dial();
    client.socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    const head = await client.until('\r\n\r\n');
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(head);
    return client;
  }

  async fact(count = 1): Promise<ConnectionFact> {
    for (let tries = 0; tries < 500 && this.facts.length < count; tries++) await pause(10);
    const fact = this.facts[count - 1];
    if (!fact) throw new Error(`only ${this.facts.length} facts came`);
    return fact;
  }

  async close(): Promise<void> {
    await this.#stop?.();
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #lookup(name: string): Resolution {
    const addresses = this.hosts.get(name);
    return addresses ? { kind: 'found', addresses } : { kind: 'missing' };
  }
}

/** The program's side of a connection. */
export class Client {
  readonly socket: Socket;
  text = '';
  bytes = 0;
  isEnded = false;
  error: string | undefined;
  isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (this.text.length < 1_000_000) this.text += chunk.toString('latin1');
    });
    socket.on('end', () => (this.isEnded = true));
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code));
    socket.on('close', () => (this.isClosed = true));
  }

  /** Takes off everything up to and with `mark`. */
  async until(mark: string): Promise<string> {
    await this.#wait(() => this.text.includes(mark));
    const at = this.text.indexOf(mark);
    if (at < 0) throw new Error(`ended without ${JSON.stringify(mark)}: ${this.text}`);
    const taken = this.text.slice(0, at + mark.length);
    this.text = this.text.slice(at + mark.length);
    return taken;
  }

  async take(count: number): Promise<Buffer> {
    await this.#wait(() => this.text.length >= count);
    const taken = Buffer.from(this.text.slice(0, count), 'latin1');
    this.text = this.text.slice(count);
    return taken;
  }

  /** Everything up to the end; 'reset' stands for a connection that was broken off. */
  async rest(): Promise<string> {
    await this.#wait(() => false);
    return this.error === 'ECONNRESET' ? 'reset' : this.text;
  }

  async #wait(isDone: () => boolean): Promise<void> {
    while (!isDone() && !this.isEnded && !this.isClosed)
      await Promise.race(
        ['data', 'end', 'close', 'error'].map(
          async (event) =>
            new Promise((resolve) => {
              this.socket.once(event, resolve);
            }),
        ),
      );
  }
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
