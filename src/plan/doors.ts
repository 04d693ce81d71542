import type { NetRule, Policy } from '../policy/policy.ts';
import type { FileTree } from './file-tree.ts';
import type { ActiveLayers } from './layers.ts';
import { isEverything, LOOPBACK, type Network } from './network.ts';
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
  /** Addresses that lead to a door, in CIDR form. */
  readonly ranges: readonly string[];
  readonly status: LayerStatus;
  /** Why it is not fully there; empty when it is. */
  readonly reason: string;
}

const RESOLV_CONF = '/etc/resolv.conf';

/** An entry that may need a door: neither the run's own loopback nor the host's whole network. Most policies have none. */
export function mayNeedDoor({ effect, text }: NetRule): boolean {
  return effect === 'allow' && !LOOPBACK.has(text) && !isEverything(text);
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

function listRanges(net: readonly NetRule[]): string[] {
  const routed = listRoutedRanges(net).filter((range) => !isLoopback(range));
  return [...new Set([NAME_RANGE, ...routed.map(toCidr)])];
}

/** Null when nothing asks for a door, or when there is no namespace to put one into. */
export function planDoors(
  policy: Policy,
  { active, network, tree }: { active: ActiveLayers; network: Network; tree: FileTree },
): DoorPlan | null {
  if (network !== 'private') return null;
  if (!policy.net.some(mayNeedDoor) || !needsDoors(policy.net)) return null;
  const reasons: string[] = [];
  if (!active.has.nft) {
    const why = active.reports.find(({ layer }) => layer === 'nft')?.reason ?? '';
    reasons.push(`only programs that use the proxy variables reach it (nft: ${why})`);
  } else if (!active.has.mount || tree.realpath(RESOLV_CONF) === null)
    reasons.push(`programs that look names up by themselves need ${RESOLV_CONF} and mount`);
  return {
    isTransparent: active.has.nft,
    ranges: listRanges(policy.net),
    status: reasons.length > 0 ? 'partial' : 'enforced',
    reason: reasons.join('; '),
  };
}

/** The resolver that programs are told of. The name may lead to a place that is hidden: it is put there. */
export function planResolver(tree: FileTree): (MountOp & { readonly kind: 'file' })[] {
  const path = tree.realpath(RESOLV_CONF);
  if (path === null || tree.kind('/tmp') !== 'directory') return [];
  return [{ kind: 'file', path, text: `nameserver ${DOORS.dns.address}\noptions edns0\n` }];
}

/** What tells programs of the proxy. What the policy sets stays. */
export function addProxyVariables(
  env: readonly (readonly [string, string])[],
  set: Readonly<Record<string, string>>,
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
    .filter(([name]) => !Object.hasOwn(set, name));
  const names = new Set(own.map(([name]) => name));
  return [...env.filter(([name]) => !names.has(name)), ...own];
}
