import type { Host } from './host.ts';
import { formatIp, type IpAddress, isInRange, parseIp } from './ip-address.ts';
import type { CompiledRule, NetRules } from './net-rules.ts';
import {
  isCatchAll,
  matchesAddress,
  matchesName,
  matchesPort,
  type NetTarget,
} from './net-target.ts';
import { isWellKnownNat64, translate } from './nat64.ts';
import { findEmbedded, findSpecial, namesSpecial, type SpecialKind } from './special-ranges.ts';

export interface Judgement {
  readonly isAllowed: boolean;
  /** The rule that decided; undefined when none speaks of it. */
  readonly by?: CompiledRule | undefined;
  /** One clause, when it is refused. */
  readonly reason?: string | undefined;
  /** The host that a rule would have to name; undefined when no rule can help. */
  readonly wanted?: Host | undefined;
}

export interface AddressQuestion {
  readonly address: IpAddress;
  /** Without: on some port. */
  readonly port: number | undefined;
  /** What an allowed name has resolved to needs no rule of its own, unless it is special. */
  readonly isResolved: boolean;
}

/** Linear in the rules. A deny wins, but for one of everything, which only states the default. */
export function judgeName({ rules }: NetRules, name: string, port: number | undefined): Judgement {
  const matches = (target: NetTarget): boolean =>
    matchesName(target, name) && matchesPort(target, port);
  const denied = findDeny(rules, matches, port);
  if (denied) return { isAllowed: false, by: denied, reason: `${name} is denied` };
  const allowed = rules.find(
    ({ rule, targets }) => rule.effect === 'allow' && targets.some(matches),
  );
  if (allowed) return { isAllowed: true, by: allowed };
  return refuseByDefault(rules, { name }, matches);
}

export function judgeAddress(
  compiled: NetRules,
  { address, port, isResolved }: AddressQuestion,
): Judgement {
  const { rules, surroundings } = compiled;
  const matches = (one: IpAddress) => (target: NetTarget) =>
    matchesAddress(target, one) && matchesPort(target, port);
  const host = { address: formatIp(address) };
  const behind = translate(surroundings?.nat64 ?? [], address);
  const faces = [address, ...(behind.length > 0 ? behind : findEmbedded(address))];
  // Such an address is what is behind it.
  const isTranslated = isResolved && (behind.length > 0 || isWellKnownNat64(address));
  for (const face of faces) {
    const denied = findDeny(rules, matches(face), port);
    if (denied)
      return { isAllowed: false, by: denied, reason: `${describeFace(address, face)} is denied` };
  }
  const allowed = rules.find(
    ({ rule, targets }) => rule.effect === 'allow' && targets.some(matches(address)),
  );
  // `*` is the host's network as a whole, private parts included; no door is in its way.
  const whole = rules.find(
    ({ rule, targets }) =>
      rule.effect === 'allow' &&
      targets.some((target) => isCatchAll(target) && matches(address)(target)),
  );
  if (whole) return { isAllowed: true, by: whole };
  const judged = faces
    .filter((face) => !(isTranslated && face === address))
    .map((face) => judgeSpecial(compiled, { face, address, port }));
  const refused = judged.filter((one) => !one.isAllowed);
  const last = refused.at(-1);
  if (!last) {
    const by = judged[0]?.by ?? allowed;
    if (isResolved || allowed) return { isAllowed: true, by };
    return refuseByDefault(rules, host, matches(address));
  }
  // One more rule has to be enough, or none is named: not for what is inside an address that is not allowed either.
  const isInside = !isResolved && !allowed && last !== judged[0];
  return refused.length > 1 || isInside ? { ...last, wanted: undefined } : last;
}

/**
 * Addresses that are not of the internet are open only where a rule means them: itself, its range or its set. One of the
 * machine's own, whatever else it is, leads to the services of the host, so nothing but itself means it.
 */
function judgeSpecial(
  { rules, special: ranges, surroundings }: NetRules,
  asked: { face: IpAddress; address: IpAddress; port: number | undefined },
): Judgement {
  const { face, address, port } = asked;
  const special = findSpecial(ranges, face);
  const isOwn = special?.kind !== 'loopback' && surroundings?.isOwn(face) === true;
  if (!special && !isOwn) return { isAllowed: true };
  const what = isOwn || !special ? 'an address of this host' : KINDS[special.kind];
  const reason = `${describeFace(address, face)} is ${what}`;
  if (special && NEVER.has(special.kind)) return { isAllowed: false, reason };
  const naming = rules.find(
    ({ rule, targets, isOwnLoopback }) =>
      rule.effect === 'allow' &&
      !isOwnLoopback &&
      targets.some(
        (target) =>
          target.kind === 'ip' &&
          matchesPort(target, port) &&
          isInRange(target.range, face) &&
          (isOwn || !special
            ? target.range.prefix === target.range.bits
            : namesSpecial(target.range, special)),
      ),
  );
  return naming
    ? { isAllowed: true, by: naming }
    : { isAllowed: false, reason, wanted: { address: formatIp(face) } };
}

/** No rule opens these: they lead to the host itself, to nobody, or to the names of this run. */
const NEVER: ReadonlySet<SpecialKind> = new Set<SpecialKind>([
  'unspecified',
  'multicast',
  'broadcast',
  'benchmarking',
]);

const KINDS: Readonly<Record<SpecialKind, string>> = {
  loopback: "on the host's loopback",
  private: 'a private address',
  'link-local': 'a link-local address',
  metadata: 'a metadata service',
  unspecified: 'no address of a host',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  documentation: 'kept for documentation',
  benchmarking: 'kept for the names of a run',
  translation: 'IPv4 inside IPv6',
  reserved: 'reserved',
};

function describeFace(address: IpAddress, face: IpAddress): string {
  const text = formatIp(face);
  return face === address ? text : `${formatIp(address)} leads to ${text}, which`;
}

/** Asked about every port, only a deny of every port is one. */
function findDeny(
  rules: readonly CompiledRule[],
  matches: (target: NetTarget) => boolean,
  port: number | undefined,
): CompiledRule | undefined {
  return rules.find(
    ({ rule, targets }) =>
      rule.effect === 'deny' &&
      targets.some(
        (target) => !isCatchAll(target) && (port !== undefined || !target.ports) && matches(target),
      ),
  );
}

function refuseByDefault(
  rules: readonly CompiledRule[],
  host: Host,
  matches: (target: NetTarget) => boolean,
): Judgement {
  const by = rules.find(({ rule, targets }) => rule.effect === 'deny' && targets.some(matches));
  return {
    isAllowed: false,
    by,
    reason: `no rule allows ${host.name ?? host.address ?? ''}`,
    wanted: host,
  };
}

export function judgeHost(rules: NetRules, host: Host, port: number | undefined): Judgement {
  if (host.name !== undefined) return judgeName(rules, host.name, port);
  const address = parseIp(host.address);
  return address
    ? judgeAddress(rules, { address, port, isResolved: false })
    : { isAllowed: false, reason: 'it is no address' };
}
