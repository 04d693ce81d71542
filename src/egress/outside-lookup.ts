import { promises as dns } from 'node:dns';
import { HostsFile } from './hosts-file.ts';
import type { OutsideLookup } from './resolver.ts';

/** RFC 7050: it has no IPv6 address but where a network makes one up for it. */
const IPV4_ONLY = 'ipv4only.arpa';
const TIMEOUT_MS = 5000;
const TRY_MS = 1500;
const TRIES = 2;

/**
 * The host's own way to look names up, but for one thing: getaddrinfo() waits in one of a few threads, where names with slow
 * servers would keep all others waiting. So the hosts file and the name servers are asked directly. Only names that are
 * no one's on the internet, which other sources of this host may know, go to getaddrinfo().
 */
export function makeOutsideLookup(): OutsideLookup {
  return new HostLookup();
}

class HostLookup implements OutsideLookup {
  readonly #hosts = new HostsFile();
  #resolver: dns.Resolver | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();

  async lookup(name: string): Promise<readonly string[]> {
    const listed = await this.#hosts.find(name);
    if (listed.length > 0) return listed;
    return await this.#within(isLocalName(name) ? askHost(name) : this.#askServers(name));
  }

  async findTranslation(): Promise<readonly string[]> {
    const asked = this.#openResolver().resolve6(IPV4_ONLY);
    return await this.#within(asked).catch((error: unknown) => {
      if (isMissing(error)) return []; // nothing is translated here
      throw error;
    });
  }

  close(): void {
    this.#resolver?.cancel();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Both families at once; IPv4 first, which is the more likely to work. */
  async #askServers(name: string): Promise<string[]> {
    const resolver = this.#openResolver();
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first, second] = answers;
    if (found.length > 0) return found;
    // One of the two families is often missing; a failure says more than that.
    for (const answer of [first, second])
      if (answer.status === 'rejected' && !isMissing(answer.reason)) throw answer.reason;
    throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' });
  }

  #openResolver(): dns.Resolver {
    return (this.#resolver ??= new dns.Resolver({ timeout: TRY_MS, tries: TRIES }));
  }

  async #within<T>(asked: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(Object.assign(new Error('nobody answers'), { code: 'ETIMEOUT' }));
      }, TIMEOUT_MS);
      this.#timers.add(timer);
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
      if (timer) this.#timers.delete(timer);
    }
  }
}

function isLocalName(name: string): boolean {
  return !name.includes('.') || name.endsWith('.local');
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}

async function askHost(name: string): Promise<string[]> {
  const found = await dns.lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}
