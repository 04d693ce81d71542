import { type IpRange, isWithin, parseRange, toIpBytes } from '../policy/ip-address.ts';
import { type CompiledRule, compileNetRule } from '../policy/net-rules.ts';
import type { PortRange } from '../policy/net-target.ts';
import type { NetRule } from '../policy/policy.ts';

/** Addresses that a program inside may connect to as such: a door has to stand there. */
export interface RoutedRange {
  readonly family: 4 | 6;
  /** In the order of the network, 4 or 16 bytes. */
  readonly address: Uint8Array;
  readonly prefix: number;
  /** Null for every port. */
  readonly ports: PortRange | null;
}

interface Routed {
  readonly range: IpRange;
  readonly ports: PortRange | null;
}

/**
 * Every range that `net.allow` names, wide ones first, without those that another holds. Which address in it may be
 * reached is decided at the door. Names have a range of their own and are not in it, nor is the loopback inside.
 */
export function listRoutedRanges(net: readonly NetRule[]): RoutedRange[] {
  const all = net
    .map(compileNetRule)
    .flatMap(toRouted)
    .sort((a, b) => a.range.bits - b.range.bits || a.range.prefix - b.range.prefix);
  const kept: Routed[] = [];
  for (const one of all) if (!kept.some((other) => holds(other, one))) kept.push(one);
  return kept.map(({ range, ports }) => ({
    family: range.bits === 32 ? 4 : 6,
    address: toIpBytes(range),
    prefix: range.prefix,
    ports,
  }));
}

/** Whether the run needs any door: an entry besides loopback inside and the host's network as a whole. */
export function needsDoors(net: readonly NetRule[]): boolean {
  return net
    .map(compileNetRule)
    .some(
      ({ rule, isOwnLoopback, targets }) =>
        rule.effect === 'allow' && !isOwnLoopback && targets.length > 0,
    );
}

function toRouted({ rule, targets, isOwnLoopback }: CompiledRule): Routed[] {
  if (rule.effect === 'deny' || isOwnLoopback) return [];
  return targets.flatMap((target): Routed[] => {
    const ports = target.ports ?? null;
    if (target.kind === 'ip')
      return isLoopback(target.range) && !ports ? [] : [{ range: target.range, ports }];
    return target.kind === 'any' ? listEverything().map((range) => ({ range, ports })) : [];
  });
}

/** The set `loopback` without a port is for names that lead there: inside, all of loopback is the run's own. */
function isLoopback({ bits, value }: IpRange): boolean {
  return bits === 32 ? value >> 24n === 127n : value === 1n;
}

function listEverything(): IpRange[] {
  return ['0.0.0.0/0', '::/0'].flatMap((text) => parseRange(text) ?? []);
}

function holds(a: Routed, b: Routed): boolean {
  if (!isWithin(b.range, a.range)) return false;
  if (!a.ports) return true;
  return b.ports !== null && b.ports.from >= a.ports.from && b.ports.to <= a.ports.to;
}
