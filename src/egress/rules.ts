import { type Host, parseHost } from '../policy/host.ts';
import { type IpAddress, parseIp } from '../policy/ip-address.ts';
import { type Judgement, judgeAddress, judgeHost, judgeName } from '../policy/net-judge.ts';
import {
  type CompiledRule,
  compileNetRule,
  type NetRules,
  type Surroundings,
} from '../policy/net-rules.ts';
import { formatEntry, matchesTarget } from '../policy/net-target.ts';
import type { InjectRule, NetRule, Policy } from '../policy/policy.ts';
import { describeEnd, isExpired } from '../policy/rule-end.ts';
import { listSpecialRanges } from '../policy/special-ranges.ts';
import type { Destination, EgressRules, SeenRequest, Verdict } from './egress.ts';
import { decideHttp, findHttpRules } from './http-rules.ts';
import { VerdictMemo } from './verdict-memo.ts';

/** Time as the rules see it, so that a test can turn the hands. */
export interface RuleClock {
  now(): number;
  /** Calls once, after `delayMs`; returns how to call it off. */
  after(delayMs: number, call: () => void): () => void;
}

export interface LiveRules extends EgressRules {
  /** Takes back every rule that was written like this, such as `example.org:443`; false when there is none. */
  revoke(text: string): boolean;
  /** Adds rules, such as one that somebody has just approved. */
  add(rules: readonly NetRule[]): void;
  /** The headers that requests to this destination get. */
  findInjections(destination: Destination): readonly InjectRule[];
  /** Hosts whose TLS may be opened, since an entry says so. */
  isTlsOpened(destination: Destination): boolean;
  /** Ends the timers. */
  close(): void;
}

export interface RulesInput {
  readonly policy: Pick<Policy, 'net' | 'inject'>;
  readonly clock: RuleClock;
  readonly surroundings?: Surroundings | undefined;
}

/** setTimeout() takes no longer delay; a later expiry is looked at again then. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function makeEgressRules(input: RulesInput): LiveRules {
  return new RuleSet(input);
}

class RuleSet implements LiveRules {
  #net: readonly NetRule[];
  #compiled: NetRules;
  /** Rules that have ended: they allow nothing, and say why something is refused. */
  #ended: readonly NetRule[] = [];
  readonly #inject: readonly { rule: InjectRule; compiled: CompiledRule }[];
  readonly #clock: RuleClock;
  readonly #surroundings: Surroundings | undefined;
  readonly #special = listSpecialRanges();
  readonly #listeners: (() => void)[] = [];
  readonly #memo = new VerdictMemo();
  #cancel: (() => void) | undefined;

  constructor({ policy: { net, inject }, clock, surroundings }: RulesInput) {
    this.#clock = clock;
    this.#surroundings = surroundings;
    this.#net = net.map((rule) => this.#start(rule));
    this.#compiled = this.#compile();
    this.#inject = inject.map((rule) => ({
      rule,
      compiled: compileNetRule({ effect: 'allow', text: rule.text, origin: rule.origin }),
    }));
    this.#schedule();
  }

  decideName(name: string): Verdict {
    return this.#recall(`name\n${name}`, () => this.#decideName(name));
  }

  #decideName(name: string): Verdict {
    const host = readHost(name);
    if (host?.name === undefined) return REFUSED;
    return this.#toVerdict(judgeName(this.#live(), host.name, undefined), undefined);
  }

  decide(destination: Destination): Verdict {
    return this.#recall(`host\n${toKey(destination)}`, () => this.#decide(destination));
  }

  #decide(destination: Destination): Verdict {
    const host = hostOf(destination);
    if (!host) return REFUSED;
    if (destination.protocol !== 'tcp') return NOT_CARRIED;
    const { port } = destination;
    return this.#toVerdict(judgeHost(this.#live(), host, port), port);
  }

  decideAddress(
    destination: Destination,
    address: string,
    { isOwn = false }: { readonly isOwn?: boolean } = {},
  ): Verdict {
    const key = `address\n${toKey(destination)}\n${address}\n${isOwn}`;
    return this.#recall(key, () => this.#decideAddress(destination, address, isOwn));
  }

  #decideAddress(destination: Destination, address: string, isOwn: boolean): Verdict {
    const decided = this.decide(destination);
    if (!decided.isAllowed) return decided;
    const dialled = parseIp(address);
    if (!dialled) return REFUSED;
    const { name, port } = destination;
    const isResolved = name !== undefined;
    const live = isOwn ? knowAsOwn(this.#live(), dialled) : this.#live();
    const judged = judgeAddress(live, { address: dialled, port, isResolved });
    if (!judged.isAllowed) return this.#toVerdict(judged, port);
    return isResolved ? decided : this.#toVerdict(judged, port);
  }

  decideRequest(destination: Destination, request: SeenRequest): Verdict {
    const decided = this.decide(destination);
    const host = hostOf(destination);
    if (!decided.isAllowed || !host) return decided;
    const found = findHttpRules(this.#live().rules, host, destination.port);
    return decideHttp(found, request, describeRule) ?? decided;
  }

  isInspected(destination: Destination): boolean {
    const key = `inspected\n${toKey(destination)}`;
    return this.#recall(key, () => this.#isInspected(destination));
  }

  #isInspected(destination: Destination): boolean {
    const host = hostOf(destination);
    if (!host) return false;
    const rules = findHttpRules(this.#live().rules, host, destination.port);
    return rules.length > 0 || this.findInjections(destination).length > 0;
  }

  isTlsOpened(destination: Destination): boolean {
    const host = hostOf(destination);
    if (!host) return false;
    const isOpened = this.#live().rules.some(
      ({ rule, targets }) =>
        rule.isTlsOpened === true &&
        targets.some((target) => matchesTarget(target, host, destination.port)),
    );
    return isOpened || this.findInjections(destination).some((rule) => rule.isTlsOpened);
  }

  findInjections(destination: Destination): readonly InjectRule[] {
    const host = hostOf(destination);
    if (!host || !this.decide(destination).isAllowed) return [];
    return this.#inject
      .filter(({ compiled }) =>
        compiled.targets.some((target) => matchesTarget(target, host, destination.port)),
      )
      .map(({ rule }) => rule);
  }

  revoke(text: string): boolean {
    const kept = this.#net.filter((rule) => rule.text !== text || rule.effect !== 'allow');
    if (kept.length === this.#net.length) return false;
    this.#replace(kept);
    return true;
  }

  add(rules: readonly NetRule[]): void {
    this.#replace([...this.#net, ...rules.map((rule) => this.#start(rule))]);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#listeners.length = 0;
  }

  #recall<T>(key: string, make: () => T): T {
    return this.#memo.get(key, [this.#live(), this.#surroundings?.state], make);
  }

  /** Expiry is by the clock and not by the timer: a late timer lets nothing through. */
  #live(): NetRules {
    const now = this.#clock.now();
    const ended = this.#net.filter((rule) => isExpired(rule, now));
    if (ended.length === 0) return this.#compiled;
    this.#ended = [...this.#ended, ...ended];
    this.#net = this.#net.filter((rule) => !isExpired(rule, now));
    this.#compiled = this.#compile();
    return this.#compiled;
  }

  #start(rule: NetRule): NetRule {
    const { lastsMs } = rule;
    return lastsMs === undefined ? rule : { ...rule, expiresAtMs: this.#clock.now() + lastsMs };
  }

  /** A rule for the loopback inside opens no door. */
  #compile(): NetRules {
    const isDoor = ({ rule, isOwnLoopback }: CompiledRule): boolean =>
      rule.effect === 'deny' || !isOwnLoopback;
    const rules = this.#net.map(compileNetRule).filter(isDoor);
    return { rules, special: this.#special, surroundings: this.#surroundings };
  }

  #replace(net: readonly NetRule[]): void {
    this.#net = net;
    this.#compiled = this.#compile();
    this.#schedule();
    for (const listener of this.#listeners) listener();
  }

  #schedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const ends = this.#net.flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
    if (ends.length === 0) return;
    const delay = Math.min(...ends) - this.#clock.now();
    this.#cancel = this.#clock.after(Math.max(0, Math.min(delay, MAX_DELAY_MS)), () => {
      this.#live();
      this.#replace(this.#net);
    });
  }

  #toVerdict({ isAllowed, by, reason, wanted }: Judgement, port: number | undefined): Verdict {
    const rule = by ? describeRule(by.rule) : null;
    if (isAllowed) return { isAllowed, rule };
    const hint = wanted && `--allow-net ${formatEntry(wanted, port)}`;
    const ended = wanted && this.#findEnded(wanted, port);
    if (!ended) return { isAllowed, rule, reason, hint };
    const over = `${describeRule(ended)} (ended ${describeEnd(ended) ?? ''})`;
    return { isAllowed, rule: over, reason: 'the rule for it has ended', hint, isExpired: true };
  }

  #findEnded(host: Host, port: number | undefined): NetRule | undefined {
    return this.#ended.find((rule) =>
      compileNetRule(rule).targets.some((target) => matchesTarget(target, host, port)),
    );
  }
}

const REFUSED: Verdict = { isAllowed: false, rule: null, reason: 'it is not the name of a host' };
const NOT_CARRIED: Verdict = { isAllowed: false, rule: null, reason: 'UDP is not let out' };

/** The rules, where it has turned out that this address is one of the machine's own. */
function knowAsOwn(rules: NetRules, { bits, value }: IpAddress): NetRules {
  const isOwn = (one: IpAddress): boolean => one.bits === bits && one.value === value;
  return { ...rules, surroundings: { nat64: rules.surroundings?.nat64 ?? [], isOwn, state: null } };
}

/** What is no name of a host has more lines than these, and is mistaken for nothing. */
function toKey({ protocol, name, address, port }: Destination): string {
  return `${protocol}\n${name ?? ''}\n${address ?? ''}\n${port}`;
}

/** Doors hand in what parseHost() gave them; whatever else is there is refused here once more. */
function readHost(text: string): Host | undefined {
  const host = parseHost(text);
  return 'problem' in host ? undefined : host;
}

function hostOf({ name, address }: Destination): Host | undefined {
  if ((name === undefined) === (address === undefined)) return undefined;
  const host = readHost(name ?? address ?? '');
  return host && (host.name === undefined) === (name === undefined) ? host : undefined;
}

/** As a person reads it: `policy.yaml:6:5 net.deny: *.example.org`, `--allow-net example.org`. */
export function describeRule({ origin }: NetRule): string {
  const { source, key, text } = origin;
  return source.startsWith('--') ? `${source} ${text}` : `${source} ${key}: ${text}`;
}
