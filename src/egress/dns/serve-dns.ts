import type { Doors } from '../doors.ts';
import { DnsFilter, type DnsFilterInput } from './filter.ts';
import { serveTcp } from './serve-tcp.ts';
import { serveUdp } from './serve-udp.ts';

/** Answers the questions that come to the two DNS doors of a run. */
export function serveDns(
  { dns, dnsTcp }: Pick<Doors, 'dns' | 'dnsTcp'>,
  input: DnsFilterInput,
): { close(): void; isIdle(): boolean } {
  const filter = new DnsFilter(input);
  serveUdp(dns, filter);
  const tcp = serveTcp(dnsTcp, filter);
  return { close: () => tcp.close(), isIdle: () => filter.isIdle };
}
