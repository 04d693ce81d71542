import { type Destination, DOORS, type NameTable } from '../egress/egress.ts';
import {
  formatIp,
  type IpAddress,
  type IpRange,
  isInRange,
  parseIp,
  parseRange,
} from '../policy/ip-address.ts';
import { HOST_LOOPBACK, type HostPorts } from '../plan/host-ports.ts';
import type { EventLine } from './decode-line.ts';
import { parseAddress } from './make-event.ts';

export interface DoorViewOptions {
  /** Addresses that lead to a door, in CIDR form. */
  readonly ranges: readonly string[];
  /** Ports of loopback that do, too: they are the host's. */
  readonly hostPorts: readonly HostPorts[];
  readonly names: NameTable;
}

const EINTR = 4;
const EAGAIN = 11;
const ENETUNREACH = 101;
const EISCONN = 106;
const EALREADY = 114;
const EINPROGRESS = 115;
/** On its way, or there already. */
const UNDER_WAY: ReadonlySet<number> = new Set([0, EINTR, EAGAIN, EISCONN, EALREADY, EINPROGRESS]);

/** `tcp:10.1.2.3:80` in one form, however the address was written; undefined when there is no address in it. */
export function toEndpoint(family: string, host: string, port: number): string | undefined {
  const address = parseIp(host);
  return address && `${family}:${hostOf(address)}:${port}`;
}

function hostOf(address: IpAddress): string {
  const text = formatIp(address);
  return text.includes(':') ? `[${text}]` : text;
}

/** As the record calls what a door leads to: loopback behind one is that of the host. */
export function hostBehindDoor(address: IpAddress): string {
  return isLoopback(address) ? HOST_LOOPBACK : hostOf(address);
}

function isLoopback({ bits, value }: IpAddress): boolean {
  return bits === 32 ? value >> 24n === 127n : value === 1n;
}

export type SeenLine =
  | {
      readonly line: EventLine;
      /** Whether nobody else tells of it, or a door does. */
      readonly kind: 'own' | 'door';
    }
  | {
      readonly line: EventLine;
      /** On its way to a door, which tells of it when it has arrived; or it went nowhere, since there is no way. */
      readonly kind: 'led' | 'unrouted';
      readonly destination: Destination;
    };

/**
 * What the helper sees is how a program comes to a door. What it wanted there the door says itself, by name, so that of
 * the helper's lines only those are kept that tell more.
 */
export class DoorView {
  readonly #ranges: readonly IpRange[];
  readonly #hostPorts: readonly (HostPorts & { readonly inside: IpRange })[];
  readonly #names: NameTable;
  readonly #doors: ReadonlySet<string>;

  constructor({ ranges, hostPorts, names }: DoorViewOptions) {
    this.#ranges = ranges.flatMap((range) => parseRange(range) ?? []);
    this.#hostPorts = hostPorts.flatMap((one) => {
      const inside = parseRange(one.range);
      return inside ? [{ ...one, inside }] : [];
    });
    this.#names = names;
    const { proxy, dns } = DOORS;
    this.#doors = new Set([
      `tcp:${proxy.address}:${proxy.port}`,
      `tcp:${dns.address}:${dns.port}`,
      `udp:${dns.address}:${dns.port}`,
    ]);
  }

  /** The line as a person is to read it. */
  read(line: EventLine): SeenLine {
    const { family, host, port } = parseAddress(line.path);
    if (line.op !== 'connect' || port === undefined) return { line, kind: 'own' };
    if (family !== 'tcp' && family !== 'udp') return { line, kind: 'own' };
    const address = parseIp(host);
    if (!address) return { line, kind: 'own' };
    const isUnderWay = UNDER_WAY.has(line.errno);
    if (isUnderWay && this.#doors.has(toEndpoint(family, host, port) ?? ''))
      return { line, kind: 'door' };
    const isHost = family === 'tcp' && this.#isHostPort(address, port);
    const isLed = isHost || this.#ranges.some((range) => isInRange(range, address));
    const text = formatIp(address);
    const name = this.#names.nameOf(text);
    const place = isHost ? HOST_LOOPBACK : hostOf(address);
    const seen = { ...line, path: `${family}:${name ?? place}:${port}` };
    // Connecting a datagram socket sends nothing: resolvers do so to sort addresses. And nothing is carried.
    if (isLed && isUnderWay && family === 'udp') return { line, kind: 'door' };
    const protocol = family === 'tcp' ? 'tcp' : 'udp';
    const destination = { protocol, port, ...(name ? { name } : { address: text }) } as const;
    if (isLed && isUnderWay) return { line: seen, kind: 'led', destination };
    if (line.errno === ENETUNREACH && line.rule === 0)
      return { line: seen, kind: 'unrouted', destination };
    return { line: seen, kind: 'own' };
  }

  #isHostPort(address: IpAddress, port: number): boolean {
    return this.#hostPorts.some(
      ({ inside, from, to }) => isInRange(inside, address) && port >= from && port <= to,
    );
  }
}
