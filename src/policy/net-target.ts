import { formatHostPort, type Host, parseHost, parsePort } from './host.ts';
import { toAsciiName } from './idn.ts';
import {
  formatRange,
  hasHostBits,
  type IpAddress,
  type IpRange,
  isInRange,
  maskRange,
  parseIp,
} from './ip-address.ts';
import { type HostSet, isHostSet, isSetName, type SetName } from './net-sets.ts';
import { quote, type Refusal } from './problems.ts';

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** What one entry of `net.allow` or `net.deny` names. Without ports it means every port. */
export type NetTarget = { readonly ports?: PortRange | undefined } & (
  | { readonly kind: 'any' }
  | { readonly kind: 'ip'; readonly range: IpRange }
  /** `isWild`: every name below `name`, not `name` itself. */
  | { readonly kind: 'host'; readonly name: string; readonly isWild: boolean }
  /** Stands for other entries, which come from net-sets.ts or from this host. */
  | { readonly kind: 'set'; readonly set: SetName }
);

export const NET_FORM = 'a host, host:port, *.domain, IP address, CIDR range, set, port or *';

/**
 * `example.com`, `example.com:443`, `example.com:8000-8010`, `*.example.com`, `10.0.0.0/8`, `[::1]:80`, `443`,
 * `tcp:example.com:22`, `tcp/443`, `github`, `*`.
 */
export function parseNetTarget(text: string): NetTarget | Refusal {
  const refusal = { problem: `${quote(text)} is not ${NET_FORM}` };
  if (text.includes('://')) {
    return { ...refusal, hint: 'write the host and port only, such as example.com:443' };
  }
  if (/^udp[:/]/.test(text))
    return { problem: `${quote(text)} is UDP, which is not let out`, hint: 'leave the entry out' };
  const rest = text.replace(/^tcp[:/]/, '');
  const bare = /^(\d+)(?:-(\d+))?$/.exec(rest);
  if (bare) return withPorts({ kind: 'any' }, [bare[1], bare[2]], text);
  const parts = BRACKETED.exec(rest) ?? splitHostPort(rest);
  if (!parts) return refusal;
  const [, host = '', prefix, ...ports] = parts;
  const target = readHost(host, prefix, refusal);
  return 'problem' in target ? target : withPorts(target, ports, text);
}

/** Does the target hold this host and port? Without a port: for some port. A set holds what its entries hold. */
export function matchesTarget(target: NetTarget, host: Host, port: number | undefined): boolean {
  if (!matchesPort(target, port)) return false;
  if (target.kind === 'any') return true;
  if (host.name !== undefined) return matchesName(target, host.name);
  const address = parseIp(host.address);
  return address !== undefined && matchesAddress(target, address);
}

export function matchesPort({ ports }: NetTarget, port: number | undefined): boolean {
  return !ports || port === undefined || (port >= ports.from && port <= ports.to);
}

export function matchesName(target: NetTarget, name: string): boolean {
  if (target.kind !== 'host') return target.kind === 'any';
  return target.isWild ? name.endsWith(`.${target.name}`) : name === target.name;
}

export function matchesAddress(target: NetTarget, address: IpAddress): boolean {
  return target.kind === 'any' || (target.kind === 'ip' && isInRange(target.range, address));
}

/** `0.0.0.0/0`, `::/0` and `*`: everything there is. */
export function isCatchAll(target: NetTarget): boolean {
  if (target.ports) return false;
  return target.kind === 'any' || (target.kind === 'ip' && target.range.prefix === 0);
}

/** The set that an entry names and that only the host can fill; undefined for all other entries. */
export function findHostSet(text: string): HostSet | undefined {
  const target = parseNetTarget(text);
  return 'kind' in target && target.kind === 'set' && isHostSet(target.set)
    ? target.set
    : undefined;
}

/** A host as the entry that names it and nothing else: one that is called like a set gets a dot behind it. */
export function formatEntry(host: Host, port: number | undefined): string {
  const { name } = host;
  const isSet = name !== undefined && isSetName(name);
  return formatHostPort(isSet ? { name: `${name}.` } : host, port);
}

/** One host, and one port at most: what can be asked about. */
export function toQuery(
  target: NetTarget,
): { readonly host: Host; readonly port: number | undefined } | undefined {
  const { ports } = target;
  if (ports && ports.from !== ports.to) return undefined;
  const port = ports?.from;
  if (target.kind === 'host' && !target.isWild) return { host: { name: target.name }, port };
  if (target.kind !== 'ip' || target.range.prefix !== target.range.bits) return undefined;
  return { host: { address: formatRange(target.range) }, port };
}

/** Host, prefix, first and last port. */
const BRACKETED = /^\[([^\]]+:[^\]]*)\](?:\/(\d{1,3}))?(?::(\d+)(?:-(\d+))?)?$/;
const PLAIN = /^([^/:[\]]+)(?:\/(\d{1,3}))?(?::(\d+)(?:-(\d+))?)?$/;
const BARE_V6 = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/;

/** A bare IPv6 address is all colons, so it takes no port. */
function splitHostPort(text: string): RegExpExecArray | null {
  return (text.split(':').length > 2 ? BARE_V6 : PLAIN).exec(text);
}

function readHost(host: string, prefix: string | undefined, refusal: Refusal): NetTarget | Refusal {
  if (host === '*') return prefix === undefined ? { kind: 'any' } : refusal;
  const address = parseIp(host);
  if (address) return toRange(address, prefix, refusal);
  if (prefix !== undefined) return refusal;
  // A host that is called like a set is written with a dot behind it.
  if (isSetName(host)) return { kind: 'set', set: host };
  const isWild = host.startsWith('*.');
  const ascii = toAsciiName(isWild ? host.slice(2) : host);
  if (typeof ascii !== 'string') return ascii;
  const parsed = parseHost(ascii);
  if ('problem' in parsed) return parsed.hint === undefined ? refusal : parsed;
  return parsed.name === undefined ? refusal : { kind: 'host', name: parsed.name, isWild };
}

function toRange(
  address: IpAddress,
  text: string | undefined,
  refusal: Refusal,
): NetTarget | Refusal {
  const prefix = text === undefined ? address.bits : Number(text);
  if (prefix > address.bits) return refusal;
  const range = { ...address, prefix };
  if (!hasHostBits(range)) return { kind: 'ip', range };
  const masked = formatRange(maskRange(range));
  return {
    problem: `the address before /${prefix} has bits behind those ${prefix}`,
    hint: `write ${masked} for the range, or the address alone`,
  };
}

function withPorts(
  target: NetTarget,
  [first, last = first]: readonly (string | undefined)[],
  text: string,
): NetTarget | Refusal {
  if (first === undefined || last === undefined) return target;
  const from = parsePort(first);
  const to = parsePort(last);
  if (from === undefined || to === undefined) return refusePort(target, first, text);
  if (from > to) return { problem: `the ports in ${quote(text)} run backwards` };
  return { ...target, ports: { from, to } };
}

function refusePort(target: NetTarget, first: string, text: string): Refusal {
  const isNumber = target.kind === 'any' && text === first && Number(first) > 65_535;
  if (isNumber) {
    const problem = `${quote(text)} is not a port, and would be an IP address to some programs`;
    return { problem, hint: 'write addresses as four decimal numbers, such as 127.0.0.1' };
  }
  return { problem: `a port in ${quote(text)} is not from 1 to 65535` };
}
