import type { RoutedRange } from './routed-ranges.ts';

/** Ports of the host's loopback that the policy names: inside, a plain connection to them is led to a door. */
export interface HostPorts {
  /** Of loopback addresses, in CIDR form. */
  readonly range: string;
  readonly from: number;
  readonly to: number;
}

/** How the record calls the host's loopback, which is not that of the run. */
export const HOST_LOOPBACK = 'host-loopback';

/** More are reached through the proxy only. */
const MAX_ENTRIES = 32;

/** Doors that stand on the loopback inside: at 127.0.0.1, ::1 and 127.0.0.53. */
const TAKEN = {
  own: [3128, 3129],
  resolver: [53],
} as const;

/** `ranges` are of loopback. Those without a port mean the loopback inside, or are for names that lead there. */
export function planHostPorts(ranges: readonly RoutedRange[]): HostPorts[] {
  return ranges
    .filter(({ prefix }) => prefix % 8 === 0)
    .flatMap(({ family, address, prefix, ports }) => {
      if (!ports) return [];
      const range = family === 6 ? '::1/128' : `${address.join('.')}/${prefix}`;
      return cut(ports, findTaken(family, address, prefix)).map((one) => ({ range, ...one }));
    })
    .slice(0, MAX_ENTRIES);
}

/** For the helper: `127.0.0.1/32 8080-8080`. */
export function formatHostPorts({ range, from, to }: HostPorts): string {
  return `${range} ${from}-${to}`;
}

function findTaken(family: 4 | 6, address: Uint8Array, prefix: number): readonly number[] {
  if (family === 6) return TAKEN.own;
  const holds = (...other: readonly number[]): boolean =>
    other.every((byte, at) => at * 8 >= prefix || address[at] === byte);
  return [
    ...(holds(127, 0, 0, 1) ? TAKEN.own : []),
    ...(holds(127, 0, 0, 53) ? TAKEN.resolver : []),
  ].sort((a, b) => a - b);
}

/** What is left of the ports without those that are taken, which are in order. */
function cut(
  { from, to }: { readonly from: number; readonly to: number },
  taken: readonly number[],
): { from: number; to: number }[] {
  const left: { from: number; to: number }[] = [];
  let start = from;
  for (const port of taken) {
    if (port < start || port > to) continue;
    if (port > start) left.push({ from: start, to: port - 1 });
    start = port + 1;
  }
  if (start <= to) left.push({ from: start, to });
  return left;
}
