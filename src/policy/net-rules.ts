import { type IpAddress, type IpRange, parseRange } from './ip-address.ts';
import { findNamedHosts, isAddressSet } from './net-sets.ts';
import { type NetTarget, parseNetTarget, type PortRange } from './net-target.ts';
import type { NetRule } from './policy.ts';
import { listSpecialRanges, rangesOf, type SpecialRange } from './special-ranges.ts';

/** A rule with everything that its entry stands for. */
export interface CompiledRule {
  readonly rule: NetRule;
  /** Never sets: those are replaced by what they hold. */
  readonly targets: readonly NetTarget[];
  /** An entry for loopback without a port: the run's own loopback, which is there anyway, and nothing of the host. */
  readonly isOwnLoopback: boolean;
}

/** Where the machine stands in its network, which no policy says. */
export interface Surroundings {
  /** Whether packets to this address end at the machine itself. Its loopback is another matter. */
  isOwn(address: IpAddress): boolean;
  /** What the translators of this network turn into IPv4. */
  readonly nat64: readonly IpRange[];
  /** Another thing whenever something of it has changed. */
  readonly state: unknown;
}

/** All rules of a run, ready to be asked. */
export interface NetRules {
  readonly rules: readonly CompiledRule[];
  readonly special: readonly SpecialRange[];
  /** Without it nothing is known of the machine. */
  readonly surroundings?: Surroundings | undefined;
}

export function compileNetRules(net: readonly NetRule[]): NetRules {
  return { rules: net.map(compileNetRule), special: listSpecialRanges() };
}

export function compileNetRule(rule: NetRule): CompiledRule {
  const target = parseNetTarget(rule.text);
  if ('problem' in target) return { rule, targets: [], isOwnLoopback: false };
  return { rule, targets: expandTarget(target, rule), isOwnLoopback: isOwnLoopback(target) };
}

/** Does this entry mean the loopback inside the sandbox? With a port it means that port of the host. */
export function isOwnLoopback(target: NetTarget): boolean {
  if (target.ports) return false;
  if (target.kind === 'host')
    return target.name === 'localhost' || target.name.endsWith('.localhost');
  if (target.kind !== 'ip') return false;
  const { bits, value, prefix } = target.range;
  return bits === 32 ? prefix >= 8 && value >> 24n === 127n : prefix === 128 && value === 1n;
}

function expandTarget(target: NetTarget, rule: NetRule): NetTarget[] {
  if (target.kind === 'host' && target.name === 'localhost' && target.ports)
    return [target, ...toIpTargets(['127.0.0.1', '::1'], target.ports)];
  if (target.kind !== 'set') return [target];
  if (isAddressSet(target.set))
    return rangesOf(target.set).map((range) => ({ kind: 'ip', range, ports: target.ports }));
  const entries = findNamedHosts(target.set) ?? rule.entries ?? [];
  return entries.flatMap((text) => {
    const one = parseNetTarget(text);
    if ('problem' in one || one.kind === 'set') return [];
    const ports = intersectPorts(one.ports, target.ports);
    return ports === null ? [] : [{ ...one, ports }];
  });
}

function toIpTargets(texts: readonly string[], ports: PortRange | undefined): NetTarget[] {
  return texts.flatMap((text) => {
    const range = parseRange(text);
    return range ? [{ kind: 'ip' as const, range, ports }] : [];
  });
}

/** Null when they have no port in common; undefined stands for every port. */
function intersectPorts(
  a: PortRange | undefined,
  b: PortRange | undefined,
): PortRange | undefined | null {
  if (!a || !b) return a ?? b;
  const both = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
  return both.from <= both.to ? both : null;
}
