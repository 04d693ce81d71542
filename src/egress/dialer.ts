import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseIp } from '../policy/ip-address.ts';
import type { Destination, EgressRules, Verdict } from './egress.ts';
import { judgeAddresses, type Resolver } from './resolver.ts';

export type DialResolver = Pick<Resolver, 'lookup' | 'doubt' | 'prepare'>;

export interface DialLimits {
  /** Of the whole: looking up and every attempt. */
  readonly dialMs: number;
  /** How long one address has before the next one is tried beside it (RFC 8305). */
  readonly attemptMs: number;
  readonly maxPending: number;
}

export const DIAL_LIMITS: DialLimits = {
  dialMs: 30_000,
  attemptMs: 250,
  maxPending: 2048,
};

export type Dialled =
  | {
      readonly socket: Socket;
      readonly address: string;
      readonly verdict: Verdict;
      /** The kernel says that it is the host itself. */
      readonly isOwn: boolean;
    }
  | { readonly refusal: Verdict }
  | { readonly errno: string };

/** Takes the addresses of a name from the resolver, and connects to exactly those that were judged. */
export class Dialer {
  readonly #rules: EgressRules;
  readonly #resolver: DialResolver;
  readonly #limits: DialLimits;
  #pending = 0;

  constructor(options: {
    readonly rules: EgressRules;
    readonly resolver: DialResolver;
    readonly limits: DialLimits;
  }) {
    this.#rules = options.rules;
    this.#resolver = options.resolver;
    this.#limits = options.limits;
  }

  get isDialling(): boolean {
    return this.#pending > 0;
  }

  /** Gives up when `client` closes. */
  async dial(destination: Destination, client: Duplex): Promise<Dialled> {
    if (this.#pending >= this.#limits.maxPending) return { errno: 'EAGAIN' };
    this.#pending++;
    const end = new DialEnd(this.#limits.dialMs, client);
    try {
      const found = await this.#resolve(destination, end);
      if ('addresses' in found) return await this.#connect(destination, found.addresses, end);
      return found;
    } finally {
      end.close();
      this.#pending--;
    }
  }

  async #resolve(
    { name, address }: Destination,
    end: DialEnd,
  ): Promise<{ readonly addresses: readonly string[] } | Exclude<Dialled, { socket: Socket }>> {
    if (name === undefined) {
      if (address?.includes(':')) await end.race(this.#resolver.prepare(address));
      return { addresses: address === undefined ? [] : [address, ...findTwin(address)] };
    }
    const found = await end.race(this.#resolver.lookup(name));
    if (typeof found === 'string') return { errno: found };
    if (found.kind === 'found') return found;
    if (found.kind === 'refused') return { refusal: found.verdict };
    return { errno: found.kind === 'missing' ? 'ENOTFOUND' : found.code };
  }

  async #connect(
    destination: Destination,
    addresses: readonly string[],
    end: DialEnd,
  ): Promise<Dialled> {
    const { allowed, refusal } = judgeAddresses(this.#rules, destination, addresses);
    if (refusal) return { refusal };
    if (allowed.length === 0) return { errno: 'ENOTFOUND' };
    const won = await raceAddresses({
      addresses: interleave(allowed),
      port: destination.port,
      attemptMs: this.#limits.attemptMs,
      end,
    });
    if (typeof won === 'string') {
      if (destination.name !== undefined) this.#resolver.doubt(destination.name);
      return { errno: won };
    }
    // The rules may have changed meanwhile; and only now does the kernel tell for certain whether that was the host
    // itself, which then has the same address at both ends.
    const isOwn = isSameEnd(won);
    const verdict = this.#rules.decideAddress(destination, won.address, { isOwn });
    if (verdict.isAllowed) return { ...won, verdict, isOwn };
    won.socket.destroy();
    return { refusal: verdict };
  }
}

/** When a dial is over for reasons of its own: too late, or nobody waits for it. */
class DialEnd {
  readonly #client: Duplex;
  readonly #timer: NodeJS.Timeout;
  #listeners: ((errno: string) => void)[] = [];
  #errno: string | undefined;
  readonly #onClose = (): void => this.#stop('ECANCELED');

  constructor(ms: number, client: Duplex) {
    this.#client = client;
    this.#timer = setTimeout(() => this.#stop('ETIMEDOUT'), ms);
    client.once('close', this.#onClose);
    if (client.destroyed) this.#errno = 'ECANCELED';
  }

  onStop(listener: (errno: string) => void): void {
    if (this.#errno === undefined) this.#listeners.push(listener);
    else listener(this.#errno);
  }

  async race<T>(work: Promise<T>): Promise<T | string> {
    return new Promise((resolve, reject) => {
      this.onStop(resolve);
      work.then(resolve, reject);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#client.off('close', this.#onClose);
    this.#listeners = [];
  }

  #stop(errno: string): void {
    this.#errno = errno;
    for (const listener of this.#listeners.splice(0)) listener(errno);
  }
}

interface Race {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly attemptMs: number;
  readonly end: DialEnd;
}

async function raceAddresses({ addresses, port, attemptMs, end }: Race) {
  const live = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  return new Promise<{ socket: Socket; address: string } | string>((resolve) => {
    let next = 0;
    let errno: string | undefined;
    const settle = (won: { socket: Socket; address: string } | string): void => {
      clearTimeout(timer);
      next = addresses.length;
      for (const socket of live)
        if (typeof won === 'string' || socket !== won.socket) socket.destroy();
      live.clear();
      resolve(won);
    };
    const tryNext = (): void => {
      clearTimeout(timer);
      const address = addresses[next++];
      if (address === undefined) return;
      const socket = connect({ host: address, port, ...SOCKET_OPTIONS });
      live.add(socket);
      // Stays for good: an error that nobody listens to would end the process.
      socket.on('error', (error) => {
        if (!live.delete(socket)) return;
        errno ??= readErrno(error);
        if (next < addresses.length) tryNext();
        else if (live.size === 0) settle(errno);
      });
      socket.once('connect', () => settle({ socket, address }));
      if (next < addresses.length) timer = setTimeout(tryNext, attemptMs);
    };
    end.onStop(settle);
    tryNext();
  });
}

/** Loopback is not what is asked for; it is the host's in any case. */
function isSameEnd({ socket, address }: { socket: Socket; address: string }): boolean {
  if (address.startsWith('127.')) return false;
  const local = parseIp(socket.localAddress ?? '');
  const other = parseIp(address);
  return local !== undefined && local.bits === other?.bits && local.value === other.value;
}

/** What is called localhost may listen at one of two addresses only; a program that took the other has got this far. */
function findTwin(address: string): readonly string[] {
  if (address === '::1') return ['127.0.0.1'];
  return address === '127.0.0.1' ? ['::1'] : [];
}

const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true } as const;

/** Each family in its own order, in turns, the one that the resolver put first first. */
function interleave(addresses: readonly string[]): readonly string[] {
  if (addresses.length < 2) return addresses;
  const isFirst = (address: string): boolean =>
    address.includes(':') === addresses[0]?.includes(':');
  const ours = addresses.filter(isFirst);
  const others = addresses.filter((address) => !isFirst(address));
  return ours
    .flatMap((address, at) => [address, ...others.slice(at, at + 1)])
    .concat(others.slice(ours.length));
}

function readErrno(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'EIO';
}
