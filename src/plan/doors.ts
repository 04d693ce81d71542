import type { Availability } from '../host/facts.ts';
import { escapeLiteral } from '../policy/glob.ts';
import { parseNetTarget } from '../policy/net-target.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import { SYSTEM_SOURCE } from '../policy/system-baseline.ts';
import type { FileTree } from './file-tree.ts';
import { type HostPorts, planHostPorts } from './host-ports.ts';
import type { ActiveLayers } from './layers.ts';
import { isByAddress, mayNeedDoor, type Network } from './network.ts';
import type { LayerStatus, MountOp } from './plan.ts';
import { listRoutedRanges, needsDoors, type RoutedRange } from './routed-ranges.ts';

/** The range that stands for names, which nobody routes (RFC 2544). */
export const NAME_RANGE = '198.18.0.0/15';

/** Inside the namespace; native/doors.c has the same numbers. */
export const DOORS = {
  /** HTTP CONNECT, absolute-form HTTP and SOCKS5, told apart by the first byte. */
  proxy: { address: '127.0.0.1', port: 3128 },
  /** Where TPROXY leads every connection to an address that is not local. */
  transparent: { address: '127.0.0.1', port: 3129 },
  dns: { address: '127.0.0.53', port: 53 },
} as const;

/** How the program reaches what net.allow names. */
export interface DoorPlan {
  /** Whether a plain connect() finds a door; if not, only programs that use the proxy do. */
  readonly isTransparent: boolean;
  /** Whether a door is made at an address when the program connects to it, since nothing can lead it to one. */
  readonly isLazy: boolean;
  /** Addresses that lead to a door, in CIDR form. */
  readonly ranges: readonly string[];
  /** Ports of loopback that do, too. */
  readonly hostPorts: readonly HostPorts[];
  readonly status: LayerStatus;
  /** Why it is not fully there; empty when it is. */
  readonly reason: string;
}

export interface DoorInput {
  readonly active: ActiveLayers;
  readonly network: Network;
  readonly tree: FileTree;
  readonly ipv6: Availability;
  readonly canBeLazy: boolean;
}

const RESOLV_CONF = '/etc/resolv.conf';
const HOSTS = '/etc/hosts';

function isName(text: string): boolean {
  const target = parseNetTarget(text);
  return !('problem' in target) && target.kind === 'host' && !target.name.endsWith('localhost');
}

/** Loopback is the run's own, and never led away. */
function isLoopback({ family, address }: RoutedRange): boolean {
  return family === 4
    ? address[0] === 127
    : address.every((byte, at) => byte === (at < 15 ? 0 : 1));
}

function toCidr({ family, address, prefix }: RoutedRange): string {
  const view = new DataView(address.buffer, address.byteOffset);
  const groups = Array.from({ length: 8 }, (_, at) =>
    family === 6 ? view.getUint16(at * 2).toString(16) : '',
  );
  return `${family === 4 ? address.join('.') : groups.join(':')}/${prefix}`;
}

/** No addresses are led anywhere: the broker connects to what is asked for, or does not. */
function planBrokered({ net }: Policy): DoorPlan {
  const hasNames = !net.filter(mayNeedDoor).every(isByAddress);
  const reason = hasNames ? 'programs that look names up over UDP do not find them' : '';
  const status = hasNames ? 'partial' : 'enforced';
  return { isTransparent: false, isLazy: false, ranges: [], hostPorts: [], status, reason };
}

/** Null when nothing asks for a door, or when there is no namespace to put one into. */
export function planDoors(policy: Policy, input: DoorInput): DoorPlan | null {
  const { active, network, tree, ipv6, canBeLazy } = input;
  if (network === 'brokered') return planBrokered(policy);
  const wanted = network === 'private' ? policy.net.filter(mayNeedDoor) : [];
  if (wanted.length === 0) return null;
  // Names are the usual case, and ranges take longest to work out of all.
  const areNames = wanted.every(({ text }) => isName(text));
  if (!areNames && !needsDoors(policy.net)) return null;
  const all = areNames ? [] : listRoutedRanges(policy.net);
  const routed = all.filter((range) => !isLoopback(range));
  const isUsable = ({ family }: RoutedRange): boolean => family === 4 || ipv6.isAvailable;
  const ranges = routed.filter(isUsable);
  const reasons: string[] = [];
  const isLazy = !active.has.nft && active.has.broker && canBeLazy;
  if (!active.has.nft && !isLazy) {
    const why = active.reports.find(({ layer }) => layer === 'nft')?.reason ?? '';
    reasons.push(`only programs that use the proxy variables reach it (nft: ${why})`);
  } else if (!active.has.mount || tree.realpath(RESOLV_CONF) === null)
    reasons.push(`programs that look names up by themselves need ${RESOLV_CONF} and mount`);
  if (ranges.length < routed.length && !ipv6.isAvailable)
    reasons.push(`only programs that use the proxy variables reach IPv6 (${ipv6.reason})`);
  return {
    isTransparent: active.has.nft,
    isLazy,
    ranges: [...new Set([NAME_RANGE, ...ranges.map(toCidr)])],
    hostPorts: planHostPorts(all.filter((range) => isLoopback(range) && isUsable(range))),
    status: reasons.length > 0 ? 'partial' : 'enforced',
    reason: reasons.join('; '),
  };
}

/** Names that the host has written down are asked for like all others, so that they lead to a door, too. */
const HOSTS_TEXT = '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n';

/** The resolver that programs are told of. The name may lead to a place that is hidden: it is put there. */
export function planResolver(
  tree: FileTree,
  network: Network = 'private',
): (MountOp & { readonly kind: 'file' })[] {
  const path = tree.realpath(RESOLV_CONF);
  if (path === null || !tree.isDirectory('/tmp')) return [];
  const hosts = tree.realpath(HOSTS);
  const options = network === 'brokered' ? `options ${DNS_OVER_TCP}\n` : '';
  return [
    { kind: 'file', path, text: `nameserver ${DOORS.dns.address}\n${options}` },
    ...(hosts === null ? [] : [{ kind: 'file' as const, path: hosts, text: HOSTS_TEXT }]),
  ];
}

/** Where the name of the resolver's file leads, for the layers that see real paths only. */
export function makeResolverRules(tree: FileTree): FsRule[] {
  const path = tree.realpath(RESOLV_CONF);
  if (path === null || path === RESOLV_CONF) return [];
  const origin = { source: SYSTEM_SOURCE, key: 'fs.read', text: path };
  return [{ effect: 'allow', rights: ['read'], pattern: escapeLiteral(path), origin }];
}

/** The broker connects; datagrams need no connection, so there are none. */
const DNS_OVER_TCP = 'use-vc';

/** What tells programs of the proxy. What the policy sets stays. */
export function addProxyVariables(
  env: readonly (readonly [string, string])[],
  set: Readonly<Record<string, string>>,
  network: Network = 'private',
): (readonly [string, string])[] {
  const { address, port } = DOORS.proxy;
  const http = `http://${address}:${port}`;
  const values: Readonly<Record<string, string>> = {
    http_proxy: http,
    https_proxy: http,
    all_proxy: `socks5h://${address}:${port}`,
    no_proxy: 'localhost,127.0.0.1,::1',
  };
  const own = Object.entries(values)
    .flatMap(([name, value]): [string, string][] => [
      [name, value],
      [name.toUpperCase(), value],
    ])
    .concat(network === 'brokered' ? [['RES_OPTIONS', DNS_OVER_TCP]] : [])
    .filter(([name]) => !Object.hasOwn(set, name));
  const names = new Set(own.map(([name]) => name));
  return [...env.filter(([name]) => !names.has(name)), ...own];
}
