import { formatIp, parseIp } from '../policy/ip-address.ts';
import type { Destination, EgressRules, Verdict } from './egress.ts';
import { NameBudget, type NameLimits } from './name-budget.ts';
import type { HostSurroundings } from './surroundings.ts';

/** What became of asking for a name. */
export type Resolution =
  /** At least one, each in canonical text. Whether one may be dialled is for judgeAddresses() to say, every time. */
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** The world has no such name, or no address for it. */
  | { readonly kind: 'missing' }
  /** Nobody could be asked, or nobody answered in time. */
  | { readonly kind: 'failed'; readonly code: string }
  /** Not asked for at all. */
  | { readonly kind: 'refused'; readonly verdict: Verdict };

/**
 * The one place of a run that asks the outside for addresses: the DNS filter and every dialer share it, so that a name is
 * resolved once and what was judged is what is dialled.
 */
export interface Resolver {
  /** Takes a name that parseHost() gave. Never throws. */
  lookup(name: string): Promise<Resolution>;
  /** To be awaited before an address that is no name's is judged: of IPv6 it has to be known what it leads to. */
  prepare(address: string): Promise<void>;
  /** None of its addresses could be reached: they may have moved, so the next lookup asks again. */
  doubt(name: string): void;
  close(): void;
}

/** Asks outside. Throws with a code; ENOTFOUND and ENODATA mean that there is no such name. */
export interface OutsideLookup {
  lookup(name: string): Promise<readonly string[]>;
  /** The IPv6 addresses that this network gives to a name which has IPv4 only; throws when nobody answers. */
  findTranslation?(): Promise<readonly string[]>;
  close(): void;
}

export interface ResolverInput {
  readonly rules: Pick<EgressRules, 'decideName'>;
  readonly outside: OutsideLookup;
  /** Told what the network translates, before the first address of IPv6 is handed out. */
  readonly surroundings?: Pick<HostSurroundings, 'learnNat64'> | undefined;
  readonly limits?: Partial<NameLimits> | undefined;
  /** In milliseconds, never going back. */
  readonly now?: (() => number) | undefined;
}

/** The addresses of a name that may be dialled for this destination, in their order; the first refusal if none may. */
export function judgeAddresses(
  rules: Pick<EgressRules, 'decideAddress'>,
  destination: Destination,
  addresses: readonly string[],
): { readonly allowed: readonly string[]; readonly refusal?: Verdict | undefined } {
  const allowed: string[] = [];
  let refusal: Verdict | undefined;
  for (const address of addresses) {
    const verdict = rules.decideAddress(destination, address);
    if (verdict.isAllowed) allowed.push(address);
    else refusal ??= verdict;
  }
  return { allowed, refusal: allowed.length > 0 ? undefined : refusal };
}

/** A name that is missing now may be there in a moment; one that failed even sooner. */
const MISSING_MS = 10_000;
const FAILED_MS = 1000;
/** What is in doubt is asked for again at most this often. */
const DOUBT_MS = 5000;
/** More than any service has; an answer with a thousand addresses keeps nobody dialling. */
const MAX_ADDRESSES = 16;

interface Entry {
  readonly resolution: Promise<Resolution>;
  readonly sinceMs: number;
  /** Until then it is not asked for again; forever, when it was found. */
  untilMs: number;
}

export function makeResolver(input: ResolverInput): Resolver {
  return new CachedResolver(input);
}

class CachedResolver implements Resolver {
  readonly #rules: ResolverInput['rules'];
  readonly #outside: OutsideLookup;
  readonly #budget: NameBudget;
  readonly #now: () => number;
  /** As many as the budget lets in. */
  readonly #entries = new Map<string, Entry>();
  readonly #surroundings: ResolverInput['surroundings'];
  #learning: Promise<boolean> | undefined;
  #isClosed = false;

  constructor({ rules, outside, surroundings, limits, now }: ResolverInput) {
    this.#rules = rules;
    this.#outside = outside;
    this.#surroundings = surroundings;
    this.#budget = new NameBudget(limits);
    this.#now = now ?? (() => performance.now());
  }

  async lookup(name: string): Promise<Resolution> {
    if (this.#isClosed) return { kind: 'failed', code: 'ECANCELLED' };
    // Asked every time, since rules expire.
    const verdict = this.#rules.decideName(name);
    if (!verdict.isAllowed) return { kind: 'refused', verdict };
    const known = this.#entries.get(name);
    if (known && this.#now() < known.untilMs) return await known.resolution;
    const { rule } = verdict;
    if (!this.#budget.start(rule)) return { kind: 'failed', code: 'EBUSY' };
    const reason = known ? undefined : this.#budget.admit(name, rule);
    if (reason !== undefined) {
      this.#budget.end(rule);
      return { kind: 'refused', verdict: { isAllowed: false, rule, reason } };
    }
    const entry: Entry = {
      resolution: this.#ask(name).finally(() => this.#budget.end(rule)),
      sinceMs: this.#now(),
      untilMs: Infinity,
    };
    this.#entries.set(name, entry);
    const resolution = await entry.resolution;
    if (resolution.kind === 'missing') entry.untilMs = this.#now() + MISSING_MS;
    if (resolution.kind === 'failed') entry.untilMs = this.#now() + FAILED_MS;
    return resolution;
  }

  async prepare(address: string): Promise<void> {
    if (address.includes(':')) await this.#learn();
  }

  doubt(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.untilMs === Infinity) entry.untilMs = entry.sinceMs + DOUBT_MS;
  }

  close(): void {
    this.#isClosed = true;
    this.#outside.close();
  }

  /**
   * What the translators of this network make of IPv6 is asked of the network itself (RFC 7050), once, when it first
   * matters: behind such an address can be one that no name may lead to. False when nobody answers; then it is asked again.
   */
  async #learn(): Promise<boolean> {
    if (!this.#surroundings) return true;
    this.#learning ??= this.#outside.findTranslation?.().then(
      (found) => {
        this.#surroundings?.learnNat64(found);
        return true;
      },
      () => {
        this.#learning = undefined;
        return false;
      },
    );
    return (await this.#learning) ?? true;
  }

  async #ask(name: string): Promise<Resolution> {
    try {
      const found = await this.#outside.lookup(name);
      const all = [...new Set(found.flatMap(canonicalise))].slice(0, MAX_ADDRESSES);
      const isKnown = all.every(isIpv4) || (await this.#learn());
      const addresses = isKnown ? all : all.filter(isIpv4);
      if (!isKnown && addresses.length === 0) return { kind: 'failed', code: 'ETIMEOUT' };
      return addresses.length > 0 ? { kind: 'found', addresses } : { kind: 'missing' };
    } catch (error) {
      const code = (error as { code?: unknown } | null)?.code;
      if (code === 'ENOTFOUND' || code === 'ENODATA') return { kind: 'missing' };
      // A name server that nobody serves must not pass for the host itself, which nobody has asked.
      const isOwn = typeof code === 'string' && code !== 'ECONNREFUSED';
      return { kind: 'failed', code: isOwn ? code : 'ESERVFAIL' };
    }
  }
}

function isIpv4(address: string): boolean {
  return !address.includes(':');
}

function canonicalise(text: string): string[] {
  const address = parseIp(text);
  return address ? [formatIp(address)] : [];
}
