import { createServer, type Socket } from 'node:net';
import type { ConnectionFact } from '../../egress/egress.ts';
import type { ProxyDoor } from '../../egress/proxy-door.ts';
import { addProxyVariables } from '../../plan/doors.ts';
import { toRules } from '../network-rules.ts';
import type { NetworkSpec } from '../spec.ts';
import { breach } from './frames.ts';
import type { GuestLink, StreamListener } from './guest-link.ts';
import { GuestStream } from './guest-stream.ts';

/** As many as the agent has room for. */
const MAX_STREAMS = 256;

/** Assay's proxy, for a guest that has no network: each connection to it is a stream of the one line that there is. */
export class EgressDoor implements StreamListener {
  /** Tells programs of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Never listens: it gets connections that nobody but the guest can make. */
  readonly #server = createServer();
  readonly #proxy: ProxyDoor;
  readonly #streams = new Map<number, GuestStream>();
  #link: GuestLink | undefined;
  #onConnection: (fact: ConnectionFact) => void = () => undefined;

  private constructor(serve: (server: EgressDoor['server']) => ProxyDoor) {
    this.environment = Object.fromEntries(addProxyVariables([], {}));
    this.#proxy = serve(this.#server);
  }

  get server(): ReturnType<typeof createServer> {
    return this.#server;
  }

  /** None where the spec asks for none. */
  static async open(network: NetworkSpec | undefined): Promise<EgressDoor | undefined> {
    if (network === undefined || network === 'none') return undefined;
    const net = toRules(network);
    const { serveProxyDoor } = await import('../../egress/proxy-door.ts');
    const door: EgressDoor = new EgressDoor((server) =>
      serveProxyDoor(server, {
        policy: { net, inject: [] },
        onConnection: (fact) => door.#onConnection(fact),
      }),
    );
    return door;
  }

  /** Once a connection has ended or was refused. */
  onConnection(listener: (fact: ConnectionFact) => void): void {
    this.#onConnection = listener;
  }

  serve(link: GuestLink): void {
    this.#link = link;
    link.listenToStreams(this);
    void link.lost.then(() => {
      for (const stream of this.#streams.values()) stream.destroy();
    });
  }

  /** Resolves when what programs have sent by now is on its way, and told. */
  async drain(): Promise<void> {
    await this.#proxy.drain();
  }

  async close(): Promise<void> {
    for (const stream of this.#streams.values()) stream.destroy();
    await this.#proxy.close();
  }

  onOpen(id: number): void {
    const link = this.#link;
    if (!link || this.#streams.has(id) || this.#streams.size >= MAX_STREAMS)
      throw breach('a connection that cannot be');
    const stream = new GuestStream({ link, id, forget: () => this.#streams.delete(id) });
    this.#streams.set(id, stream);
    this.#server.emit('connection', stream as unknown as Socket);
  }

  // What is on its way when the host closes a connection leads nowhere.
  onData(id: number, data: Buffer): void {
    this.#streams.get(id)?.hearData(data);
  }

  onEnd(id: number): void {
    this.#streams.get(id)?.hearEnd();
  }

  onReset(id: number): void {
    this.#streams.get(id)?.hearReset();
  }

  onCredit(id: number, bytes: number): void {
    this.#streams.get(id)?.hearCredit(bytes);
  }
}
