import type { Socket as UdpSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import type { Doors, DoorService, ServeDoors } from '../egress/doors.ts';
import type { LaunchPlan } from '../plan/plan.ts';
import { noteProblem } from './door-problem.ts';
import { BACKLOG, type DoorHandle, DoorWatch, requireDoorHandle } from './door-watch.ts';

export const DOOR_NAMES = ['proxy', 'dns', 'dnsTcp', 'transparent', 'transparent6'] as const;
export type DoorName = (typeof DOOR_NAMES)[number];

/** The doors that the helper opens for this plan. */
export function expectDoors({ flags, doorRanges }: LaunchPlan): DoorName[] {
  const hasIpv6 = doorRanges.some((range) => range.includes(':'));
  return DOOR_NAMES.filter((name) => {
    if (name === 'transparent6') return flags.isTransparent && hasIpv6;
    return name !== 'transparent' || flags.isTransparent;
  });
}

/** A program that runs for so long may well want the network. */
const IDLE_MS = 30;
/** What a program has sent just before its end has this long to find its way. */
const DRAINING_MS = 2000;
const CLOSING_MS = 1000;

export interface DoorKeeperOptions {
  readonly expected: readonly DoorName[];
  /** Without it nobody serves the doors: they are closed as they come, and connections are refused. */
  readonly load: (() => Promise<ServeDoors>) | undefined;
}

/**
 * Owns the doors of one run, from the moment that they come out of the namespace to the end of the run. Whatever goes
 * wrong in serving them closes them, is told at the end, and leaves the run as it is: without a network.
 */
export class DoorKeeper {
  readonly problems: string[] = [];
  readonly #expected: readonly DoorName[];
  readonly #load: DoorKeeperOptions['load'];
  readonly #watch = new DoorWatch(() => this.#wake());
  #timer: NodeJS.Timeout | undefined;
  #isAwake = false;
  readonly #late: DoorHandle[] = [];
  #transparent: Server | undefined;
  #opening: Promise<void> | undefined;
  /** Connections and questions, or more. */
  #seen = 0;
  readonly #handles = new Map<string, DoorHandle>();
  readonly #connections = new Set<Socket>();
  #servers: (Server | UdpSocket)[] = [];
  #service: DoorService | undefined;
  #isClosed = false;
  readonly #onCrash = (error: unknown): void => this.#fail(error);

  constructor({ expected, load }: DoorKeeperOptions) {
    this.#expected = expected;
    this.#load = load;
    // Serving is all callbacks: what one of them throws ends up here, and nowhere else.
    process.on('uncaughtException', this.#onCrash);
    process.on('unhandledRejection', this.#onCrash);
  }

  take(name: string, received: unknown): void {
    try {
      this.#accept(name, requireDoorHandle(received));
    } catch (error) {
      this.#fail(error);
    }
  }

  #accept(name: string, handle: DoorHandle): void {
    if (this.#isClosed || this.#handles.has(name)) {
      handle.close();
      return;
    }
    if (name === 'lazy') {
      this.#late.push(handle);
      if (this.#service) this.#serveLate();
      else this.#wake();
      return;
    }
    this.#handles.set(name, handle);
    if (!this.#expected.every((one) => this.#handles.has(one))) return;
    if (!this.#load) return this.#closeDoors();
    this.#timer = setTimeout(() => this.#wake(), IDLE_MS).unref();
    for (const one of this.#handles.values()) if (!this.#watch.add(one)) this.#wake();
  }

  /** The run has ended. */
  async close(): Promise<void> {
    try {
      if (!this.#isClosed) await within(DRAINING_MS, this.#drain());
      this.#closeDoors();
      await within(CLOSING_MS, Promise.resolve(this.#service?.close()));
    } catch (error) {
      this.#closeDoors();
      noteProblem(this.problems, error);
    }
    process.off('uncaughtException', this.#onCrash);
    process.off('unhandledRejection', this.#onCrash);
  }

  /**
   * Node takes one connection at a turn of its loop, and what came last waits in the kernel's queues. Nothing new can come,
   * so it is all there when a turn brings no more.
   */
  async #drain(): Promise<void> {
    for (let seen = -1; seen !== this.#seen && !this.#isClosed;) {
      seen = this.#seen;
      await takeTurns();
      await this.#opening;
    }
    await this.#service?.drain?.();
  }

  #wake(): void {
    this.#seen++;
    if (this.#isAwake || this.#isClosed) return;
    this.#isAwake = true;
    this.#opening = this.#open().catch((error: unknown) => this.#fail(error));
  }

  async #open(): Promise<void> {
    const serve = await this.#load?.();
    if (this.#isClosed || !serve) return;
    this.#service = serve(this.#makeDoors());
    this.#watch.handOn();
    this.#serveLate();
  }

  #makeDoors(): Doors {
    const transparent = (['transparent', 'transparent6'] as const).filter((name) =>
      this.#handles.has(name),
    );
    const servers = transparent.map((name) => this.#listen(this.#take(name)));
    this.#transparent = servers[0] ?? this.#makeServer();
    return {
      proxy: this.#listen(this.#take('proxy')),
      transparent: servers.length > 0 ? servers : [this.#transparent],
      dns: this.#receive('dns'),
      dnsTcp: this.#listen(this.#take('dnsTcp')),
    };
  }

  #take(name: DoorName): DoorHandle {
    const handle = this.#handles.get(name);
    if (!handle) throw new Error(`the door ${name} did not come`);
    this.#handles.delete(name);
    return handle;
  }

  /** Doors that were made for one address each all lead to the same service. */
  #serveLate(): void {
    for (const handle of this.#late.splice(0))
      this.#listen(handle).on('connection', (socket) =>
        this.#transparent?.emit('connection', socket),
      );
  }

  #makeServer(): Server {
    const { createServer } = process.getBuiltinModule('node:net');
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('error', (error) => this.#fail(error));
    return server;
  }

  #listen(handle: DoorHandle): Server {
    const server = this.#makeServer();
    this.#servers.push(server);
    server.on('connection', (socket) => {
      this.#seen++;
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    return server.listen(handle, BACKLOG);
  }

  #receive(name: DoorName): UdpSocket {
    const { createSocket } = process.getBuiltinModule('node:dgram');
    const socket = createSocket('udp4');
    this.#servers.push(socket);
    socket.on('error', (error) => this.#fail(error));
    socket.on('message', () => this.#seen++);
    // Its type does not say so, but this is how node hands on the sockets of its own processes.
    (socket.bind as (handle: DoorHandle) => void)(this.#take(name));
    return socket;
  }

  #fail(error: unknown): void {
    noteProblem(this.problems, error);
    this.#closeDoors();
  }

  #closeDoors(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watch.close();
    for (const handle of this.#handles.values()) handle.close();
    this.#handles.clear();
    for (const handle of this.#late.splice(0)) handle.close();
    for (const server of this.#servers) {
      try {
        server.close();
      } catch {
        // it never came to listen
      }
    }
    this.#servers = [];
    for (const socket of this.#connections) socket.destroy();
  }
}

/** For what the kernel has ready to be seen: it may take two turns of the loop. */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
