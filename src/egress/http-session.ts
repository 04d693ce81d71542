import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ByteReader, send } from './byte-reader.ts';
import type { Connection } from './connections.ts';
import { type DoorContext, UNREAD } from './door-context.ts';
import type { Destination, Door } from './egress.ts';
import { answer, answerFailure, answerProblem, withoutBody } from './http-answers.ts';
import { type BodyEnd, sendBody } from './http-body.ts';
import { type Exchange, receiveAnswer, writeRequest } from './http-exchange.ts';
import {
  findHeadEnd,
  findRequestFraming,
  type HeadProblem,
  parseRequestHead,
  type RequestHead,
} from './http-head.ts';
import { findOverride } from './http-rules.ts';
import {
  findAim,
  type OddHost,
  readProxyTarget,
  readTunnelTarget,
  toOddDestination,
  toPrintable,
  type TunnelEnd,
} from './http-target.ts';
import { endWith, pump, reset, tieTogether } from './relay.ts';

export interface HttpSessionOptions {
  readonly context: DoorContext;
  readonly door: Door;
  readonly client: Duplex;
  readonly reader: ByteReader;
  /** The program's own socket. */
  readonly peer?: Socket | undefined;
  /** Absent at the proxy, where every request says itself where it goes. */
  readonly tunnel?: (TunnelEnd & OpenUpstream) | undefined;
}

interface OpenUpstream {
  readonly connection: Connection;
  /** The connection's own socket, or what is inside its TLS. */
  readonly upstream: Duplex;
}

interface Upstream {
  readonly connection: Connection;
  readonly reader: ByteReader;
  readonly destination: Destination;
  isUsed: boolean;
}

type Next = 'again' | 'over';

/**
 * HTTP/1 requests of one client, one after the other. Each is judged by itself, and only then is the next one read. What
 * the upstream gets is written anew from what was understood and judged, so that it cannot understand something else.
 */
export class HttpSession {
  readonly #options: HttpSessionOptions;
  readonly #client: Duplex;
  readonly #reader: ByteReader;
  #upstream: Upstream | undefined;
  #isIdle = false;
  /** Of the request that is being served: its answer has no body. */
  #isHead = false;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#reader = options.reader;
    const { tunnel } = options;
    if (!tunnel) return;
    this.#upstream = toUpstream(tunnel, tunnel.destination);
    // The client of a tunnel waits for nobody else.
    tunnel.upstream.once('close', this.#onTunnelEnd);
    tunnel.upstream.once('end', this.#onTunnelEnd);
  }

  /** Comes back with a CONNECT request of the proxy, which ends the session; otherwise when all is over. */
  async run(): Promise<RequestHead | undefined> {
    this.#client.once('close', this.#drop);
    const { headMs, idleMs } = this.#options.context.limits;
    // The two ends of a tunnel say themselves how long it lives.
    const laterMs = this.#options.tunnel ? 0 : idleMs;
    for (let ms = headMs; ; ms = laterMs) {
      const head = await this.#readHead(ms);
      if (!head) break;
      if ('problem' in head) {
        this.#turnAway(head, UNREAD);
        break;
      }
      if (head.method === 'CONNECT' && !this.#options.tunnel) {
        this.#client.off('close', this.#drop);
        this.#drop();
        return head;
      }
      if ((await this.#serve(head)) === 'over') break;
    }
    this.#reader.detach();
    this.#drop();
    endWith(this.#client, '');
    return undefined;
  }

  async #readHead(ms: number): Promise<RequestHead | HeadProblem | undefined> {
    const reader = this.#reader;
    reader.setDeadline(ms);
    this.#isIdle = true;
    for (let seen = 0; ;) {
      const end = findHeadEnd(reader.bytes, seen);
      if (typeof end === 'object') return end;
      if (end > 0) {
        reader.setDeadline(0);
        this.#isIdle = false;
        return parseRequestHead(reader.take(end));
      }
      seen = reader.bytes.length;
      if (await reader.more()) continue;
      if (seen === 0) return undefined;
      const problem = 'the head did not come to its end';
      return { status: reader.isTimedOut ? 408 : 400, problem };
    }
  }

  async #serve(head: RequestHead): Promise<Next> {
    const { context, tunnel } = this.#options;
    this.#isHead = head.method === 'HEAD';
    const framing = findRequestFraming(head);
    const target = tunnel ? readTunnelTarget(head, tunnel) : readProxyTarget(head);
    if ('odd' in target) return this.#refuseOdd(target);
    if ('problem' in target) return this.#turnAway(target, findAim(head));
    if ('problem' in framing) return this.#turnAway(framing, target.destination);
    const { destination, path } = target;
    const seen = { method: head.method, path, override: findOverride(head.fields) };
    const verdict = context.rules.decideRequest(destination, seen);
    if (!verdict.isAllowed) {
      const note = `${head.method} ${path.split('?', 1)[0]?.slice(0, 200)}`;
      const refused = context.connections.refuse(this.#asked(destination), verdict, note);
      return this.#fail(answerFailure(destination, refused));
    }
    const upstream = await this.#open(destination);
    if (!upstream) return 'over';
    const isTls = tunnel?.isTls ?? false;
    return this.#exchange({ head, target, framing, isTls, isTunnel: !!tunnel }, upstream);
  }

  async #open(destination: Destination): Promise<Upstream | undefined> {
    const current = this.#upstream;
    const isThere = current && isUsable(current) && isEqual(current.destination, destination);
    if (isThere) return current;
    this.#drop();
    if (this.#options.tunnel) return undefined;
    const opened = await this.#options.context.connections.open(this.#asked(destination));
    if (!('upstream' in opened)) {
      this.#fail(answerFailure(destination, opened));
      return undefined;
    }
    this.#upstream = toUpstream({ connection: opened, upstream: opened.upstream }, destination);
    opened.learnPeer();
    if (this.#client.destroyed) this.#drop();
    return this.#upstream;
  }

  async #exchange(exchange: Exchange, upstream: Upstream): Promise<Next> {
    const { head, target, framing, isTunnel } = exchange;
    const { interceptor } = this.#options.context;
    const isReused = upstream.isUsed;
    upstream.isUsed = true;
    const { stream } = upstream.reader;
    await send(stream, writeRequest(exchange, interceptor));
    const sent = { end: undefined as BodyEnd | undefined };
    const sending = sendBody(this.#reader, stream, { framing, isRequest: true }).then((end) => {
      sent.end = end;
      if (end === 'broken') reset(stream);
      // To learn of a client that goes away.
      else this.#reader.watch();
    });
    const asker = { stream: this.#client, isSent: () => sent.end === 'whole' };
    const result = await receiveAnswer(upstream.reader, asker, exchange);
    if (result === 'last') return this.#endAfter(sending, stream);
    if (sent.end === undefined && result !== 'switched') reset(stream);
    if (sent.end === 'broken' && result === 'dead')
      return this.#fail(answerProblem({ status: 400, problem: 'the body is not well formed' }));
    if (this.#client.destroyed) return 'over';
    const isHarmless = framing.kind === 'none' && IDEMPOTENT.has(head.method);
    if (result === 'dead' && isReused && isHarmless && !isTunnel) {
      // It was closed while the request was on its way.
      const fresh = await this.#open(target.destination);
      return fresh ? this.#exchange(exchange, fresh) : 'over';
    }
    if (result === 'dead' || result === 'bad')
      return this.#fail(answer(502, { error: 'bad gateway', reason: BAD_ANSWER[result] }));
    if (result === 'broken') {
      reset(this.#client);
      return 'over';
    }
    if (result === 'switched') return this.#switch(upstream);
    if (result === 'closed') this.#drop();
    else upstream.reader.watch();
    return 'again';
  }

  /** The client sees the end at once; what it still sends of its request is for a server that goes on reading. */
  async #endAfter(sending: Promise<void>, upstream: Duplex): Promise<Next> {
    this.#client.end();
    const closed = new Promise((resolve) => upstream.once('close', resolve));
    if (!upstream.destroyed) await Promise.race([sending, closed]);
    return 'over';
  }

  /** After 101 it is not HTTP any more, as both sides have agreed. */
  async #switch({ reader }: Upstream): Promise<Next> {
    const { stream } = reader;
    const client = this.#client;
    const isClientEnded = this.#reader.isEnded;
    const isOver = reader.isEnded;
    client.write(reader.detach());
    stream.write(this.#reader.detach());
    tieTogether(client, stream);
    if (isOver) client.end();
    else pump(stream, client);
    if (isClientEnded) stream.end();
    else pump(client, stream);
    if (!stream.destroyed) await new Promise((resolve) => stream.once('close', resolve));
    this.#upstream = undefined;
    return 'over';
  }

  #refuseOdd({ odd, problem }: OddHost): Next {
    const { context, tunnel } = this.#options;
    const verdict = { isAllowed: false, rule: null, reason: problem };
    const destination = tunnel?.destination ?? toOddDestination(odd);
    const note = `asked for ${toPrintable(odd)}`;
    const refused = context.connections.refuse(this.#asked(destination), verdict, note);
    return this.#fail(answerFailure(destination, refused), note);
  }

  /** A request that is none, or could be taken for another one. That of a tunnel is noted with its connection. */
  #turnAway(found: HeadProblem, destination: Destination): Next {
    const { context, tunnel } = this.#options;
    const verdict = { isAllowed: false, rule: null, reason: found.problem };
    // A client that is gone has asked for nothing.
    if (!tunnel && !this.#client.destroyed)
      context.connections.refuse(this.#asked(destination), verdict);
    return this.#fail(answerProblem(found), found.problem);
  }

  #fail(words: Buffer, note?: string): Next {
    if (this.#upstream && note !== undefined) this.#upstream.connection.note ??= note;
    this.#reader.detach();
    this.#drop();
    endWith(this.#client, this.#isHead ? withoutBody(words) : words);
    return 'over';
  }

  readonly #onTunnelEnd = (): void => {
    if (this.#isIdle) this.#reader.stop();
  };

  readonly #drop = (): void => {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    upstream?.reader.stream.destroy();
    upstream?.connection.upstream.destroy();
  };

  #asked(destination: Destination) {
    const { door, client, peer } = this.#options;
    return { door, destination, client, peer };
  }
}

/** What may be asked twice (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

const BAD_ANSWER = {
  dead: 'the server ended the connection without an answer',
  bad: 'the server did not answer in proper HTTP/1',
} as const;

function toUpstream({ connection, upstream }: OpenUpstream, destination: Destination): Upstream {
  return { connection, reader: new ByteReader(upstream), destination, isUsed: false };
}

function isUsable({ reader }: Upstream): boolean {
  return !reader.isEnded && reader.bytes.length === 0 && reader.stream.writable;
}

function isEqual(one: Destination, other: Destination): boolean {
  return one.name === other.name && one.address === other.address && one.port === other.port;
}
