/** The numbers that a name server knows (IANA, "DNS parameters"), as far as this one speaks of them. */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  NULL: 10,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  OPT: 41,
  DS: 43,
  DNSKEY: 48,
  SVCB: 64,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export type RcodeName = keyof typeof RCODE;

export const CLASS_IN = 1;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPE).map(([name, number]) => [number, name]),
);

/** `A`, or `TYPE4711` for one without a name here (RFC 3597). */
export function nameType(type: number): string {
  return NAMES.get(type) ?? `TYPE${type}`;
}
