/*
 * What the parts of the egress control say to each other. A program inside never holds a socket of the host's network: it
 * talks to a door inside its own namespace, and assay, outside, decides, dials and relays.
 */

/** By which way a program came. */
export type Door =
  /** HTTP CONNECT or absolute-form HTTP at the proxy. */
  | 'http'
  | 'socks'
  /** A plain connect() to an address that stands for a name, or that is allowed itself. */
  | 'transparent'
  /** connect() performed by the broker, without a network namespace. */
  | 'broker';

/** Where a program wants to go, before anything is resolved. Exactly one of name and address is given. */
export interface Destination {
  readonly protocol: 'tcp' | 'udp';
  /** Lower case, without a trailing dot. */
  readonly name?: string | undefined;
  /** In canonical text; an IPv4-mapped address is its IPv4. */
  readonly address?: string | undefined;
  readonly port: number;
}

export interface Verdict {
  readonly isAllowed: boolean;
  /** The rule as a person reads it, such as `policy.yaml:6:5 net.deny: *.example.org`; null when nothing allows it. */
  readonly rule: string | null;
  /** Why, when it is not allowed: one clause. */
  readonly reason?: string | undefined;
  /** The flag that would allow it, such as `--allow-net example.org:443`; absent when none would. */
  readonly hint?: string | undefined;
  /** A rule has allowed it, and is over; it is the one in `rule`. */
  readonly isExpired?: true | undefined;
}

/** Why a connection that stands is broken off when the rules have changed. */
export function describeCut({ isExpired, rule }: Verdict): string {
  return isExpired ? `cut: ${rule}` : 'cut: no rule allows it any more';
}

/** A request as the rules see it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** A field by which it asks the server to take it for another one. */
  readonly override?: string | undefined;
}

/** The compiled rules of one run. */
export interface EgressRules {
  /** May the name be asked for at all, on whatever port. */
  decideName(name: string): Verdict;
  decide(destination: Destination): Verdict;
  /**
   * Whether an address that an allowed name has resolved to may be dialled: loopback, private, link-local and metadata
   * addresses, and those of the host itself, only where a rule names them. `isOwn`: the kernel has said that it is one.
   */
  decideAddress(
    destination: Destination,
    address: string,
    options?: { readonly isOwn?: boolean },
  ): Verdict;
  /** What an HTTP request to an allowed destination may be, where it is visible. */
  decideRequest(destination: Destination, request: SeenRequest): Verdict;
  /** Hosts whose requests must be visible: HTTP rules or injected headers. */
  isInspected(destination: Destination): boolean;
  /** Called when a rule has expired or was revoked: live connections are judged again. */
  onChange(listener: () => void): void;
}

/** One connection, from the first byte of the request to its end; refused ones have no address. */
export interface ConnectionFact {
  readonly door: Door;
  readonly destination: Destination;
  /** What was dialled. */
  readonly address?: string | undefined;
  readonly verdict: Verdict;
  /** `ok`, `refused` by us, or the errno of the dial such as ECONNREFUSED. */
  readonly outcome: string;
  /** Bytes to and from the upstream. */
  readonly sent: number;
  readonly received: number;
  readonly startedMs: number;
  readonly durationMs: number;
  /** Of the program's socket, to find the program: port and, of a transparent one, the address that it took. */
  readonly peerPort?: number | undefined;
  /** SNI or Host that did not agree, a request that was refused, a tunnel that was cut. */
  readonly note?: string | undefined;
}

export interface QuestionFact {
  readonly name: string;
  /** A, AAAA, TXT … */
  readonly type: string;
  readonly verdict: Verdict;
  /** NOERROR, NXDOMAIN, REFUSED … */
  readonly answer: string;
  readonly atMs: number;
  readonly peerPort?: number | undefined;
}

export interface EgressLog {
  question(fact: QuestionFact): void;
  /** Once a connection has ended or was refused. */
  connection(fact: ConnectionFact): void;
}

/** Fake addresses inside, each standing for one name. */
export interface NameTable {
  addressOf(name: string): string | undefined;
  nameOf(address: string): string | undefined;
}

export { DOORS, NAME_RANGE } from '../plan/doors.ts';
