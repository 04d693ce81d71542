import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dialer } from './dialer.ts';
import {
  describeCut,
  type Destination,
  type Door,
  type EgressLog,
  type EgressRules,
  type Verdict,
} from './egress.ts';
import { reset } from './relay.ts';

export interface Asked {
  readonly door: Door;
  readonly destination: Destination;
  readonly client: Duplex;
  /** The program's own socket, whatever is spoken inside it. */
  readonly peer?: Socket | undefined;
}

export type Failure =
  { readonly refusal: Verdict } | { readonly errno: string; readonly verdict: Verdict };

/** One connection to an upstream, from the dial to its end. */
export class Connection {
  readonly asked: Asked;
  readonly upstream: Socket;
  readonly address: string;
  readonly isOwn: boolean;
  note: string | undefined;
  peerPort: number | undefined;

  constructor(
    asked: Asked,
    { socket, address, isOwn }: { socket: Socket; address: string; isOwn: boolean },
  ) {
    this.asked = asked;
    this.upstream = socket;
    this.address = address;
    this.isOwn = isOwn;
  }

  /** To be called while the program's socket is open, and when nobody waits: asking the kernel takes a while. */
  learnPeer(): void {
    this.peerPort ??= this.asked.peer?.remotePort;
  }

  /** Breaks off both sides. */
  cut(note: string): void {
    this.note ??= note;
    reset(this.asked.client);
    reset(this.upstream);
  }
}

const KEEP_ALIVE_MS = 60_000;

/** Every connection of a run: opens them by the rules, tells the log of each, and cuts what is not allowed any more. */
export class Connections {
  readonly #rules: EgressRules;
  readonly #log: EgressLog;
  readonly #dialer: Dialer;
  readonly #now: () => number;
  /** With what tells the log of its end, once. */
  readonly #live = new Map<Connection, () => void>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: {
    readonly rules: EgressRules;
    readonly log: EgressLog;
    readonly dialer: Dialer;
    readonly now: () => number;
  }) {
    this.#rules = options.rules;
    this.#log = options.log;
    this.#dialer = options.dialer;
    this.#now = options.now;
    options.rules.onChange(() => this.#judgeAgain());
  }

  async open(asked: Asked): Promise<Connection | Failure> {
    const verdict = this.#rules.decide(asked.destination);
    if (!verdict.isAllowed) return this.refuse(asked, verdict);
    const startedMs = this.#now();
    const dialled = await this.#dialer.dial(asked.destination, asked.client);
    if ('refusal' in dialled) return this.refuse(asked, dialled.refusal);
    if ('errno' in dialled) {
      this.#tell(asked, { verdict, outcome: dialled.errno, startedMs });
      return { errno: dialled.errno, verdict };
    }
    const connection = new Connection(asked, dialled);
    const end = (): void => {
      if (!this.#live.delete(connection)) return;
      const { address, note, upstream, peerPort } = connection;
      const { bytesWritten: sent, bytesRead: received } = upstream;
      const counts = { sent, received, address, note, peerPort };
      this.#tell(asked, { ...counts, verdict: dialled.verdict, outcome: 'ok', startedMs });
    };
    this.#live.set(connection, end);
    this.#sweep ??= setInterval(() => this.#keepAlive(), KEEP_ALIVE_MS).unref();
    connection.upstream.once('close', end);
    return connection;
  }

  refuse(asked: Asked, verdict: Verdict, note?: string): { readonly refusal: Verdict } {
    this.#tell(asked, { verdict, outcome: 'refused', startedMs: this.#now(), note });
    return { refusal: verdict };
  }

  /** Whether everything that programs have sent was handed on, and that it was all. */
  get isFlushed(): boolean {
    for (const { upstream } of this.#live.keys())
      if (!upstream.writableFinished && !upstream.destroyed) return false;
    return true;
  }

  /** What was handed on so far in connections that are open; undefined while it is certain that there is more. */
  countSent(): number | undefined {
    let sent = this.#dialer.isDialling ? undefined : 0;
    for (const { upstream } of this.#live.keys())
      sent =
        sent === undefined || upstream.writableLength > 0
          ? undefined
          : sent + upstream.bytesWritten;
    return sent;
  }

  /** Ends them all, and resolves when that was told of each. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    for (const { asked, upstream } of this.#live.keys()) {
      reset(asked.client);
      // A reset would take back what the kernel has not sent yet.
      if (upstream.writableLength === 0) upstream.destroy();
      else reset(upstream);
    }
    await new Promise((resolve) => setImmediate(resolve));
    // A socket that does not say that it is closed must not keep the run from its end.
    for (const end of this.#live.values()) end();
  }

  /**
   * The kernel asks the ends of connections that have lived for a while whether they are there. One timer for all of them,
   * and nothing for the many that are short.
   */
  #keepAlive(): void {
    for (const { asked, upstream } of this.#live.keys())
      for (const side of [asked.client, upstream])
        if (side instanceof Socket) side.setKeepAlive(true, KEEP_ALIVE_MS);
  }

  #judgeAgain(): void {
    for (const connection of this.#live.keys()) {
      const { address, asked, isOwn } = connection;
      const verdict = this.#rules.decideAddress(asked.destination, address, { isOwn });
      if (!verdict.isAllowed) connection.cut(describeCut(verdict));
    }
  }

  #tell(asked: Asked, fact: Told): void {
    const { door, destination, peer } = asked;
    const durationMs = this.#now() - fact.startedMs;
    const { peerPort: _, ...told } = fact;
    this.#log.connection({
      door,
      destination,
      peerPort: fact.peerPort ?? peer?.remotePort,
      sent: 0,
      received: 0,
      durationMs,
      ...told,
    });
  }
}

interface Told {
  readonly verdict: Verdict;
  readonly outcome: string;
  readonly startedMs: number;
  readonly address?: string;
  readonly sent?: number;
  readonly received?: number;
  readonly peerPort?: number | undefined;
  readonly note?: string | undefined;
}
