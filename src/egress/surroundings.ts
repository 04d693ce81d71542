import { networkInterfaces } from 'node:os';
import { type IpAddress, type IpRange, parseIp } from '../policy/ip-address.ts';
import { findNat64Prefixes } from '../policy/nat64.ts';
import type { Surroundings } from '../policy/net-rules.ts';

/** Addresses come and go with links and leases; who dials asks the kernel once more. */
const KEPT_MS = 1000;

/** What this machine is in its network, as far as it has been found out. */
export class HostSurroundings implements Surroundings {
  nat64: readonly IpRange[] = [];
  readonly #now: () => number;
  readonly #list: () => readonly string[];
  #own: ReadonlySet<string> = new Set();
  #text = '';
  #state = {};
  #readAtMs = -Infinity;

  constructor(
    now: () => number = () => performance.now(),
    list: () => readonly string[] = listInterfaces,
  ) {
    this.#now = now;
    this.#list = list;
  }

  get state(): unknown {
    this.#refresh();
    return this.#state;
  }

  isOwn(address: IpAddress): boolean {
    this.#refresh();
    return toKey(address).some((key) => this.#own.has(key));
  }

  /** Takes the IPv6 addresses that the network has given to `ipv4only.arpa`. */
  learnNat64(texts: readonly string[]): void {
    this.nat64 = findNat64Prefixes(texts.flatMap((text) => parseIp(text) ?? []));
    this.#state = {};
  }

  #refresh(): void {
    const now = this.#now();
    if (now - this.#readAtMs < KEPT_MS) return;
    this.#readAtMs = now;
    const all = this.#list();
    const text = all.join(' ');
    if (text === this.#text) return;
    this.#text = text;
    this.#own = new Set(all.flatMap((one) => toKey(parseIp(one))));
    this.#state = {};
  }
}

function toKey(address: IpAddress | undefined): string[] {
  return address ? [`${address.bits} ${address.value}`] : [];
}

function listInterfaces(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((all = []) =>
      // A zone is no part of the address.
      all.map(({ address }) => address.split('%', 1)[0] ?? ''),
    );
  } catch {
    return []; // where they cannot be listed, what the kernel says of each connection is enough
  }
}
