/** An address as a number. An IPv4-mapped IPv6 address is its IPv4. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** The first `prefix` bits of `value` are fixed; the others are zero. */
export interface IpRange extends IpAddress {
  readonly prefix: number;
}

/** Strict: four decimal octets without leading zeros, or RFC 4291 text without a zone. */
export function parseIp(text: string): IpAddress | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  const value = text.includes(':') && text.length <= MAX_TEXT ? parseIpv6(text) : undefined;
  return value === undefined ? undefined : toAddress(value);
}

/** The text of RFC 5952, so that an address has one spelling only. */
export function formatIp({ bits, value }: IpAddress): string {
  if (bits === 32) return formatIpv4(value);
  const groups = Array.from({ length: 8 }, (_, at) =>
    Number((value >> BigInt(112 - 16 * at)) & 0xffffn),
  );
  const run = findLongestZeros(groups);
  const toText = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return toText(groups);
  return `${toText(groups.slice(0, run.start))}::${toText(groups.slice(run.start + run.length))}`;
}

export function formatRange(range: IpRange): string {
  const text = formatIp(range);
  return range.prefix === range.bits ? text : `${text}/${range.prefix}`;
}

/** `10.0.0.0/8` or one address; undefined when it is neither, or when bits behind the prefix are set. */
export function parseRange(text: string): IpRange | undefined {
  const [, host = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseIp(host);
  if (!address) return undefined;
  const range = { ...address, prefix: prefix === undefined ? address.bits : Number(prefix) };
  return range.prefix <= range.bits && !hasHostBits(range) ? range : undefined;
}

export function hasHostBits(range: IpRange): boolean {
  return maskRange(range).value !== range.value;
}

export function maskRange({ bits, value, prefix }: IpRange): IpRange {
  const shift = BigInt(bits - prefix);
  return { bits, value: (value >> shift) << shift, prefix };
}

export function isInRange(range: IpRange, address: IpAddress): boolean {
  if (range.bits !== address.bits) return false;
  const shift = BigInt(range.bits - range.prefix);
  return range.value >> shift === address.value >> shift;
}

/** Does `outer` hold all of `inner`? */
export function isWithin(inner: IpRange, outer: IpRange): boolean {
  return inner.prefix >= outer.prefix && isInRange(outer, inner);
}

/** In the order of the network. */
export function toIpBytes({ bits, value }: IpAddress): Uint8Array {
  const size = bits / 8;
  return Uint8Array.from({ length: size }, (_, at) =>
    Number((value >> BigInt(8 * (size - 1 - at))) & 0xffn),
  );
}

/** Four or sixteen bytes in the order of the network. */
export function fromIpBytes(bytes: Uint8Array): IpAddress | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return bytes.length === 4 ? { bits: 32, value } : toAddress(value);
}

/** Of an IPv6 address with an IPv4 tail, written out in full. */
const MAX_TEXT = 45;

function toAddress(value: bigint): IpAddress {
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
}

function parseIpv4(text: string): bigint | undefined {
  if (text.length > 15) return undefined;
  const octets = text.split('.');
  const isValid =
    octets.length === 4 && octets.every((o) => /^(0|[1-9]\d{0,2})$/.test(o) && Number(o) < 256);
  return isValid ? octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n) : undefined;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const last = halves.length - 1;
  const [head, tail] = halves.map((half, at) => readGroups(half, at === last));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(tail ? missing : 0).fill(0), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** `isLast`: only the end of an address may be written as IPv4. */
function readGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const v4 = isLast && index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (v4 !== undefined) groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn));
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** The first of the longest runs of zero groups. */
function findLongestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let at = 0; at <= groups.length; at++) {
    if (groups[at] === 0) continue;
    if (at - start > best.length) best = { start, length: at - start };
    start = at + 1;
  }
  return best;
}
