import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseHost } from '../policy/host.ts';
import type { Destination, EgressRules, Verdict } from './egress.ts';

/** Every address of a name, as the host sees it; rejects with an errno such as ENOTFOUND, or with a refusal. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface DialLimits {
  /** Of the whole: looking up and every attempt. */
  readonly dialMs: number;
  /** How long one address has before the next one is tried beside it (RFC 8305). */
  readonly attemptMs: number;
  readonly maxPending: number;
  readonly maxAddresses: number;
}

export const DIAL_LIMITS: DialLimits = {
  dialMs: 30_000,
  attemptMs: 250,
  maxPending: 2048,
  maxAddresses: 16,
};

export type Dialled =
  | { readonly socket: Socket; readonly address: string; readonly verdict: Verdict }
  | { readonly refusal: Verdict }
  | { readonly errno: string };

/** By getaddrinfo(), so that the host's own files and resolver count. */
export async function lookupOnHost(name: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** Resolves a name outside, once, and connects to exactly those addresses that were judged. */
export class Dialer {
  readonly #rules: EgressRules;
  readonly #lookup: Lookup;
  readonly #doubt: ((name: string) => void) | undefined;
  readonly #limits: DialLimits;
  /** Questions under way: a thousand connections to one name ask once. */
  readonly #asked = new Map<string, Promise<readonly string[]>>();
  #pending = 0;

  constructor(options: {
    readonly rules: EgressRules;
    readonly lookup: Lookup;
    /** Told of a name that could not be reached at any of its addresses. */
    readonly doubt?: ((name: string) => void) | undefined;
    readonly limits: DialLimits;
  }) {
    this.#rules = options.rules;
    this.#lookup = options.lookup;
    this.#doubt = options.doubt;
    this.#limits = options.limits;
  }

  /** Gives up when `client` closes. */
  async dial(destination: Destination, client: Duplex): Promise<Dialled> {
    if (this.#pending >= this.#limits.maxPending) return { errno: 'EAGAIN' };
    this.#pending++;
    const end = new DialEnd(this.#limits.dialMs, client);
    try {
      const found = await end.race(this.#resolve(destination));
      if (!Array.isArray(found)) return { errno: found as string };
      return await this.#connect(destination, found as string[], end);
    } catch (error) {
      const { refusal } = error as { refusal?: Verdict };
      return refusal ? { refusal } : { errno: readErrno(error) };
    } finally {
      end.close();
      this.#pending--;
    }
  }

  async #resolve({ name, address }: Destination): Promise<readonly string[]> {
    if (name === undefined) return address === undefined ? [] : [address];
    const asked = this.#asked.get(name);
    if (asked) return asked;
    const asking = this.#lookup(name).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    return asking;
  }

  async #connect(
    destination: Destination,
    found: readonly string[],
    end: DialEnd,
  ): Promise<Dialled> {
    const judged = found.slice(0, this.#limits.maxAddresses).map((text) => {
      const { address } = parseHost(text) as { address?: string };
      const verdict = this.#rules.decideAddress(destination, address ?? text);
      return { address, verdict };
    });
    const allowed = judged.flatMap(({ address, verdict }) =>
      verdict.isAllowed && address !== undefined ? [address] : [],
    );
    const [first] = judged;
    if (!first) return { errno: 'ENOTFOUND' };
    if (allowed.length === 0) return { refusal: first.verdict };
    const won = await raceAddresses({
      addresses: interleave(allowed),
      port: destination.port,
      attemptMs: this.#limits.attemptMs,
      end,
    });
    if (typeof won === 'string') {
      if (destination.name !== undefined) this.#doubt?.(destination.name);
      return { errno: won };
    }
    // The rules may have changed meanwhile.
    const verdict = this.#rules.decideAddress(destination, won.address);
    if (verdict.isAllowed) return { ...won, verdict };
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

/** A dead peer of an idle connection is noticed by the kernel, without timers here. */
const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
} as const;

/** Each family in its own order, in turns, the one that the resolver put first first. */
function interleave(addresses: readonly string[]): string[] {
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
