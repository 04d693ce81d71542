import type { Server, Socket } from 'node:net';
import { readDescriptorRoom } from '../descriptor-room.ts';
import type { DnsFilter } from './filter.ts';
import { MAX_QUERY_BYTES } from './query.ts';

export interface TcpLimits {
  readonly connections: number;
  /** A whole question has to come within this time, and the next one within it again. */
  readonly questionMs: number;
  /** Questions of one connection that are answered at the same time; further ones wait unread. */
  readonly atOnce: number;
  /** Answers that the program does not fetch. */
  readonly unreadBytes: number;
}

const LIMITS: TcpLimits = {
  connections: 128,
  questionMs: 5000,
  atOnce: 16,
  unreadBytes: 16 << 10,
};

/** Each message stands behind its length (RFC 1035, 4.2.2). */
const LENGTH_BYTES = 2;

export function serveTcp(
  server: Server,
  filter: DnsFilter,
  limits: Partial<TcpLimits> = {},
): { close(): void } {
  const all = { ...LIMITS, ...limits };
  const connections = Math.min(all.connections, readDescriptorRoom().questions);
  const clients = new Set<TcpClient>();
  server.on('connection', (socket) => {
    if (clients.size >= connections) {
      socket.on('error', () => undefined);
      filter.noteUnread(socket.remotePort, 'too many connections ask questions');
      socket.resetAndDestroy();
      return;
    }
    const client = new TcpClient(socket, filter, all);
    clients.add(client);
    socket.once('close', () => clients.delete(client));
  });
  return {
    close: () => {
      for (const client of clients) client.close();
    },
  };
}

class TcpClient {
  readonly #socket: Socket;
  readonly #filter: DnsFilter;
  readonly #limits: TcpLimits;
  readonly #port: number;
  #unread: Buffer = Buffer.alloc(0);
  #answering = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout;

  constructor(socket: Socket, filter: DnsFilter, limits: TcpLimits) {
    this.#socket = socket;
    this.#filter = filter;
    this.#limits = limits;
    this.#port = socket.remotePort ?? 0;
    this.#timer = this.#startTimer();
    socket.on('error', () => undefined); // whatever it is, 'close' follows
    socket.on('close', () => clearTimeout(this.#timer));
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#readOn();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#unread = this.#unread.length > 0 ? Buffer.concat([this.#unread, bytes]) : bytes;
    this.#readOn();
  }

  #readOn(): void {
    while (this.#answering < this.#limits.atOnce && this.#unread.length >= LENGTH_BYTES) {
      const length = this.#unread.readUInt16BE(0);
      if (length > MAX_QUERY_BYTES) {
        this.#filter.noteUnread(this.#port, 'the message is too long for a question');
        return this.close();
      }
      const end = LENGTH_BYTES + length;
      if (this.#unread.length < end) break;
      const message = this.#unread.subarray(LENGTH_BYTES, end);
      this.#unread = this.#unread.subarray(end);
      this.#restartTimer();
      void this.#answer(message);
    }
    if (this.#answering >= this.#limits.atOnce) this.#socket.pause();
    else if (this.#hasEnded && this.#answering === 0) this.#socket.end();
    else this.#socket.resume();
  }

  async #answer(message: Buffer): Promise<void> {
    this.#answering++;
    const answer = await this.#filter.answer(message, this.#port);
    this.#answering--;
    if (this.#socket.destroyed) return;
    // There is no noise between two ends of a connection: what is not a question ends it.
    if (!answer || this.#socket.writableLength > this.#limits.unreadBytes) return this.close();
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(answer.length);
    this.#socket.write(Buffer.concat([length, answer]));
    this.#restartTimer();
    this.#readOn();
  }

  /** Set by whole questions only: single bytes now and then keep nothing open. */
  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#answering > 0) this.#restartTimer();
      else this.close();
    }, this.#limits.questionMs);
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    if (!this.#socket.destroyed) this.#timer = this.#startTimer();
  }
}
