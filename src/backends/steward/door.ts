import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ConnectionFact } from '../../egress/egress.ts';
import type { ProxyDoor } from '../../egress/proxy-door.ts';
import type { NetRule } from '../../policy/policy.ts';
import type { ChannelUser, StewardLink } from './steward-link.ts';
import { encodeU32, type Frame, FROM_STEWARD, MAX_FRAME_BYTES, TO_STEWARD } from './wire.ts';

/** How much may be on its way to a program before it has taken some. */
const WINDOW = 256 * 1024;

/** Assay's door, for programs in a container that has no network: its port leads over the steward's channel to here. */
export class StewardDoor {
  readonly #server: Server;
  readonly #proxy: ProxyDoor;
  readonly #path: string;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, proxy: ProxyDoor, path: string) {
    this.#server = server;
    this.#proxy = proxy;
    this.#path = path;
  }

  /** Serves on a socket in `directory`, which only this user can reach. */
  static async open(options: {
    readonly directory: string;
    readonly rules: readonly NetRule[];
    readonly onConnection: (fact: ConnectionFact) => void;
  }): Promise<StewardDoor> {
    const { directory, rules, onConnection } = options;
    const { serveProxyDoor } = await import('../../egress/proxy-door.ts');
    const server = createServer({ allowHalfOpen: true });
    const proxy = serveProxyDoor(server, {
      policy: { net: [...rules], inject: [] },
      onConnection,
    });
    const path = join(directory, 'door');
    server.listen(path);
    await once(server, 'listening');
    return new StewardDoor(server, proxy, path);
  }

  /** What a program has sent by now is on its way, and told. */
  async drain(): Promise<void> {
    await this.#proxy.drain();
  }

  /** A program has connected. */
  accept(channel: number, link: StewardLink): ChannelUser {
    const socket = connect({ path: this.#path, allowHalfOpen: true });
    this.#sockets.add(socket);
    let window = WINDOW;
    const end = (type: number): void => {
      link.send(type, channel);
      if (type === TO_STEWARD.doorReset) link.release(channel);
    };
    socket.on('data', (data: Buffer) => {
      for (let at = 0; at < data.length; at += MAX_FRAME_BYTES)
        link.send(TO_STEWARD.doorData, channel, data.subarray(at, at + MAX_FRAME_BYTES));
      window -= data.length;
      if (window <= 0) socket.pause();
    });
    socket.on('end', () => end(TO_STEWARD.doorEnd));
    // A close follows, and tells the other side.
    socket.on('error', () => undefined);
    socket.on('close', (hadError) => {
      this.#sockets.delete(socket);
      if (hadError) end(TO_STEWARD.doorReset);
      else link.release(channel);
    });
    const take = ({ type, payload }: Frame): void => {
      if (type === FROM_STEWARD.doorData)
        socket.write(payload, () =>
          link.send(TO_STEWARD.doorWindow, channel, encodeU32(payload.length)),
        );
      else if (type === FROM_STEWARD.doorEnd) socket.end();
      else if (type === FROM_STEWARD.doorReset) socket.destroy();
      else if (type === FROM_STEWARD.doorWindow && payload.length === 4) {
        window += payload.readUInt32LE(0);
        if (window > 0) socket.resume();
      }
    };
    return { take, close: () => socket.destroy() };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#proxy.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
