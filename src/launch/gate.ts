import type { Server, Socket } from 'node:net';

const LOOPBACK = '127.0.0.1';
const BACKLOG = 4096;
/** The broker announces a connection as soon as it is made. */
const WAIT_MS = 2000;
const MAX_WAITING = 1024;

/**
 * A door on the host's own loopback, where everybody on this machine can knock. Only connections that the broker has
 * announced by their port come in; all others are sent away.
 */
export class Gate {
  /** Never listens itself: it gets the connections that have come in. */
  readonly inner: Server;
  readonly #outer: Server;
  readonly #knocking = new Map<number, Socket>();
  readonly #announced = new Map<number, NodeJS.Timeout>();
  readonly #inside = new Set<Socket>();

  private constructor(onError: (error: unknown) => void) {
    const { createServer } = process.getBuiltinModule('node:net');
    this.inner = createServer();
    this.#outer = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#knock(socket);
    });
    this.#outer.on('error', onError);
  }

  static async open(onError: (error: unknown) => void): Promise<Gate> {
    const gate = new Gate(onError);
    await new Promise<void>((resolve, reject) => {
      gate.#outer.once('error', reject);
      gate.#outer.listen({ host: LOOPBACK, port: 0, backlog: BACKLOG }, () => resolve());
    });
    return gate;
  }

  get port(): number {
    const address = this.#outer.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  announce(ownPort: number): void {
    const socket = this.#knocking.get(ownPort);
    if (socket) {
      this.#knocking.delete(ownPort);
      this.#letIn(socket);
      return;
    }
    clearTimeout(this.#announced.get(ownPort));
    const timer = setTimeout(() => this.#announced.delete(ownPort), WAIT_MS).unref();
    this.#announced.set(ownPort, timer);
  }

  close(): void {
    this.#outer.close();
    for (const socket of [...this.#knocking.values(), ...this.#inside]) socket.destroy();
    for (const timer of this.#announced.values()) clearTimeout(timer);
    this.#knocking.clear();
    this.#announced.clear();
  }

  #knock(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    socket.on('error', () => undefined);
    // By another address of loopback the same port can be taken twice.
    if (remoteAddress !== LOOPBACK || remotePort === undefined) return void socket.destroy();
    const timer = this.#announced.get(remotePort);
    if (timer) {
      clearTimeout(timer);
      this.#announced.delete(remotePort);
      this.#letIn(socket);
      return;
    }
    const [oldest] = this.#knocking;
    if (oldest && this.#knocking.size >= MAX_WAITING) oldest[1].destroy();
    this.#knocking.set(remotePort, socket);
    const forget = (): void => {
      if (this.#knocking.get(remotePort) === socket) this.#knocking.delete(remotePort);
    };
    socket.once('close', forget);
    setTimeout(() => {
      if (this.#knocking.get(remotePort) === socket) socket.destroy();
    }, WAIT_MS).unref();
  }

  #letIn(socket: Socket): void {
    this.#inside.add(socket);
    socket.once('close', () => this.#inside.delete(socket));
    this.inner.emit('connection', socket);
  }
}
