import { quote, type Refusal } from './problems.ts';

/** An IP range: the first `prefix` of `bits` bits of `value` are fixed. */
interface IpRange {
  readonly bits: 32 | 128;
  readonly prefix: number;
  readonly value: bigint;
}

/** What one entry of `net.allow` or `net.deny` names. Without a port it means every port. */
export type NetTarget =
  | { readonly kind: 'any'; readonly port?: number | undefined }
  | { readonly kind: 'ip'; readonly range: IpRange; readonly port?: number | undefined }
  /** `isWild`: every name below `name`, not `name` itself. */
  | {
      readonly kind: 'host';
      readonly name: string;
      readonly isWild: boolean;
      readonly port?: number | undefined;
    };

export const NET_FORM = 'a host, host:port, *.domain, IP address, CIDR range, port or *';

/** `example.com`, `example.com:443`, `*.example.com`, `10.0.0.0/8`, `[::1]:80`, `443`, `tcp/443`, `tcp:443`, `*`. */
export function parseNetTarget(text: string): NetTarget | Refusal {
  const refusal = { problem: `${quote(text)} is not ${NET_FORM}` };
  if (text.includes('://')) {
    return { ...refusal, hint: 'write the host and port only, such as example.com:443' };
  }
  if (/^\d+-\d+$/.test(text)) return { ...refusal, hint: 'write each port of a range as an entry' };
  const bare = /^(?:tcp[/:])?(\d+)$/.exec(text);
  if (bare) return withPort({ kind: 'any' }, bare[1], text);
  const parts = /^\[([^\]]+)\](?:\/(\d+))?(?::(\d+))?$/.exec(text) ?? splitHostPort(text);
  if (!parts) return refusal;
  const [, host = '', prefix, port] = parts;
  if (host === '*') return prefix === undefined ? withPort({ kind: 'any' }, port, text) : refusal;
  const address = parseIp(host);
  if (address) {
    const bits = prefix === undefined ? address.bits : Number(prefix);
    if (bits > address.bits) return refusal;
    return withPort({ kind: 'ip', range: { ...address, prefix: bits } }, port, text);
  }
  if (prefix !== undefined) return refusal;
  const isWild = host.startsWith('*.');
  const name = normaliseHost(isWild ? host.slice(2) : host);
  return name === undefined ? refusal : withPort({ kind: 'host', name, isWild }, port, text);
}

/** Does the target hold this host (a name or an IP address) and port? Without a port: for some port. */
export function matchesTarget(target: NetTarget, host: string, port: number | undefined): boolean {
  if (target.port !== undefined && port !== undefined && target.port !== port) return false;
  if (target.kind === 'any') return true;
  const address = parseIp(host);
  if (target.kind === 'ip') return address !== undefined && isInRange(target.range, address);
  const name = address ? undefined : normaliseHost(host);
  if (name === undefined) return false;
  return target.isWild ? name.endsWith(`.${target.name}`) : name === target.name;
}

/** `0.0.0.0/0`, `::/0` and `*`: everything there is. */
export function isCatchAll(target: NetTarget): boolean {
  if (target.port !== undefined) return false;
  return target.kind === 'any' || (target.kind === 'ip' && target.range.prefix === 0);
}

function withPort(target: NetTarget, port: string | undefined, text: string): NetTarget | Refusal {
  if (port === undefined) return target;
  const number = Number(port);
  if (number < 1 || number > 65_535)
    return { problem: `the port in ${quote(text)} is not from 1 to 65535` };
  return { ...target, port: number };
}

/** Same slots as the bracket form: host, prefix, port. A bare IPv6 address is all colons, so it takes no port. */
function splitHostPort(text: string): RegExpExecArray | null {
  const isIpv6 = text.split(':').length > 2;
  return (isIpv6 ? /^([0-9A-Fa-f:.]+)(?:\/(\d+))?$/ : /^([^/:[\]]+)(?:\/(\d+))?(?::(\d+))?$/).exec(
    text,
  );
}

/** Lower case, no trailing dot. A numeric last label would be read as an IP address by some resolvers. */
function normaliseHost(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  const isValid = labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  if (!isValid || name.length > 253 || /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ''))
    return undefined;
  return name;
}

function isInRange(range: IpRange, address: { bits: number; value: bigint }): boolean {
  if (range.bits !== address.bits) return false;
  const shift = BigInt(range.bits - range.prefix);
  return range.value >> shift === address.value >> shift;
}

/** Strict: four decimal octets without leading zeros, or RFC 4291 text. An IPv4-mapped address is its IPv4. */
function parseIp(text: string): { bits: 32 | 128; value: bigint } | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  const value = text.includes(':') ? parseIpv6(text) : undefined;
  if (value === undefined) return undefined;
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

function parseIpv4(text: string): bigint | undefined {
  const octets = text.split('.');
  const isValid =
    octets.length === 4 && octets.every((o) => /^(0|[1-9]\d{0,2})$/.test(o) && Number(o) < 256);
  return isValid ? octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n) : undefined;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(readGroups);
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(tail ? missing : 0).fill(0), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

function readGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (v4 !== undefined) groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn));
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
