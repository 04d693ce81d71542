import { type IpAddress, type IpRange, isInRange, maskRange, parseRange } from './ip-address.ts';

/** The lengths that a prefix for IPv4 inside IPv6 may have (RFC 6052, section 2.2). */
export const NAT64_LENGTHS = [32, 40, 48, 56, 64, 96] as const;
export type Nat64Length = (typeof NAT64_LENGTHS)[number];

/** The lengths that fit into 64:ff9b:1::/48, which every network may use as it likes (RFC 8215). */
const LOCAL_LENGTHS: readonly Nat64Length[] = [48, 56, 64, 96];

const LOW_32 = 0xffffffffn;

/** The IPv4 address behind a prefix of this length. Bits 64 to 71 hold none of it. */
export function extractIpv4({ value }: IpAddress, length: Nat64Length): IpAddress {
  if (length === 96) return { bits: 32, value: value & LOW_32 };
  const head = (value >> 64n) & 0xffffffffffffffffn;
  const tail = (value >> 16n) & 0xffffffffffn;
  const joined = (head << 40n) | tail;
  return { bits: 32, value: (joined >> BigInt(104 - length - 32)) & LOW_32 };
}

/**
 * What a translator with a prefix in 64:ff9b:1::/48 would make of an address. How long its prefix is nobody knows, so all
 * of them count; but for addresses in 0.0.0.0/8, which no translator sends to, and which the other lengths make of zeros.
 */
export function guessIpv4(address: IpAddress): IpAddress[] {
  const guesses = LOCAL_LENGTHS.map((length) => extractIpv4(address, length));
  const likely = guesses.filter(({ value }) => value >> 24n !== 0n);
  return likely.length > 0 ? likely : [extractIpv4(address, 96)];
}

/** RFC 7050: the addresses of the name that has IPv4 only, as a network that translates answers with them. */
const IPV4_ONLY: readonly bigint[] = [0xc00000aan, 0xc00000abn];

/** The prefixes of a network's translators, from the IPv6 addresses that it has given to `ipv4only.arpa`. */
export function findNat64Prefixes(addresses: readonly IpAddress[]): IpRange[] {
  const found = addresses
    .filter(({ bits }) => bits === 128)
    .flatMap((address) =>
      NAT64_LENGTHS.filter((length) => IPV4_ONLY.includes(extractIpv4(address, length).value)).map(
        (prefix) => maskRange({ ...address, prefix }),
      ),
    );
  return found.filter(
    (one, at) =>
      found.findIndex((other) => one.value === other.value && one.prefix === other.prefix) === at,
  );
}

/** The IPv4 addresses that the translators of this network would send to. */
export function translate(prefixes: readonly IpRange[], address: IpAddress): IpAddress[] {
  return prefixes
    .filter((prefix) => isInRange(prefix, address))
    .map(({ prefix }) => extractIpv4(address, prefix as Nat64Length));
}

/** How DNS64 writes every IPv4 address for a host that has IPv6 only. */
export function isWellKnownNat64(address: IpAddress): boolean {
  const range = parseRange('64:ff9b::/96');
  return range !== undefined && isInRange(range, address);
}
