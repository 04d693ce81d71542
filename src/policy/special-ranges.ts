import { type IpAddress, type IpRange, isInRange, isWithin, parseRange } from './ip-address.ts';
import { guessIpv4 } from './nat64.ts';

/** Why an address is not simply one of the internet. */
export type SpecialKind =
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'documentation'
  | 'benchmarking'
  | 'translation'
  | 'reserved';

export interface SpecialRange {
  readonly kind: SpecialKind;
  readonly range: IpRange;
}

/**
 * From the IANA registries of special addresses. Where two hold an address the longer prefix says what it is: a rule for
 * link-local addresses does not open the metadata service among them.
 */
const TEXTS: Readonly<Record<SpecialKind, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  // RFC 1918, shared addresses behind a carrier's NAT (RFC 6598), unique local and the site-local of old.
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    'fec0::/10',
  ],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  // Where clouds hand out credentials to whatever asks.
  metadata: [
    '169.254.169.254',
    '169.254.169.253',
    '169.254.170.2',
    '169.254.170.23',
    '169.254.0.23',
    '169.254.42.42',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::253',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    'fe80::a9fe:a9fe',
  ],
  // Linux takes 0.0.0.0 and :: for its own loopback.
  unspecified: ['0.0.0.0/8', '::'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  broadcast: ['255.255.255.255'],
  documentation: [
    '192.0.2.0/24',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '2001:db8::/32',
    '3fff::/20',
  ],
  benchmarking: ['198.18.0.0/15', '2001:2::/48'],
  // IPv4 inside IPv6: compatible, translated, NAT64, 6to4 with its relays, and Teredo.
  translation: [
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '2002::/16',
    '192.88.99.0/24',
    '2001::/32',
  ],
  // And all of IPv6 but 2000::/3, the only part that is given out as addresses of the internet.
  reserved: ['192.0.0.0/24', '240.0.0.0/4', '2001::/23', '::/3', '4000::/2', '8000::/1'],
};

/** Narrowest first. Made once for a set of rules: most runs never ask, so start-up does not pay for it. */
export function listSpecialRanges(): SpecialRange[] {
  return Object.entries(TEXTS)
    .flatMap(([kind, texts]) =>
      texts.map((text) => ({ kind: kind as SpecialKind, range: toRange(text) })),
    )
    .sort((a, b) => b.range.prefix - a.range.prefix);
}

export function rangesOf(kind: SpecialKind): IpRange[] {
  return TEXTS[kind].map(toRange);
}

/** The narrowest of `ranges` that holds the address; undefined for one of the internet. */
export function findSpecial(
  ranges: readonly SpecialRange[],
  address: IpAddress,
): SpecialRange | undefined {
  return ranges.find(({ range }) => isInRange(range, address));
}

/**
 * Does a rule for `range` mean this special range, and not only happen to hold it? `0.0.0.0/1` holds 10.0.0.0/8 and says
 * nothing of it; `10.1.0.0/16` does.
 */
export function namesSpecial(range: IpRange, special: SpecialRange): boolean {
  return isWithin(range, special.range);
}

/** The IPv4 addresses that packets to this IPv6 address would, or may, end at. */
export function findEmbedded({ bits, value }: IpAddress): IpAddress[] {
  // :: and ::1 hold no IPv4.
  if (bits === 32 || value <= 1n) return [];
  const at = (shift: bigint): IpAddress => ({ bits: 32, value: (value >> shift) & LOW_32 });
  if (value >> 112n === SIX_TO_FOUR) return [at(80n), ...findIsatap(value)];
  // The server in the clear, the client with every bit turned.
  if (value >> 96n === TEREDO) return [at(64n), { bits: 32, value: (value & LOW_32) ^ LOW_32 }];
  if (value >> 80n === LOCAL_NAT64) return guessIpv4({ bits, value });
  const isLastPart = [NAT64, COMPATIBLE, TRANSLATED].some((prefix) => value >> 32n === prefix);
  return isLastPart ? [at(0n)] : findIsatap(value);
}

const LOW_32 = 0xffffffffn;
/** 64:ff9b::/96, 64:ff9b:1::/48, ::/96, ::ffff:0:0:0/96, 2002::/16 and 2001::/32. */
const NAT64 = 0x64ff9b0000000000000000n;
const LOCAL_NAT64 = 0x64ff9b0001n;
const COMPATIBLE = 0n;
const TRANSLATED = 0xffff0000n;
const SIX_TO_FOUR = 0x2002n;
const TEREDO = 0x20010000n;

/** RFC 5214: an interface identifier of 00-00-5E-FE, or 02-00-5E-FE, and an IPv4 address, below any prefix. */
function findIsatap(value: bigint): IpAddress[] {
  const identifier = (value >> 32n) & LOW_32;
  const isIsatap = identifier === 0x5efen || identifier === 0x02005efen;
  return isIsatap ? [{ bits: 32, value: value & LOW_32 }] : [];
}

function toRange(text: string): IpRange {
  const range = parseRange(text);
  if (!range) throw new TypeError(`${text} is no range`);
  return range;
}
