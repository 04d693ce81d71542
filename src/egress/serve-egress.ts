import { makeConnectJudge } from './connect-judge.ts';
import { serveDns } from './dns/serve-dns.ts';
import type { Doors, DoorService } from './doors.ts';
import { waitUntilSent } from './drain.ts';
import type { EgressLog, NameTable } from './egress.ts';
import type { Interceptor } from './interceptor.ts';
import type { Resolver } from './resolver.ts';
import type { LiveRules } from './rules.ts';
import { serveDoors } from './serve-doors.ts';

export interface EgressInput {
  readonly rules: LiveRules;
  readonly names: NameTable;
  readonly resolver: Resolver;
  readonly log: EgressLog;
  /** Names of this machine, which lead to the loopback inside unless a rule names them. */
  readonly ownNames?: readonly string[] | undefined;
  /** Adds headers and opens TLS, where the policy has that. */
  readonly interceptor?: Interceptor | undefined;
  /** As it stands in the facts. */
  readonly now: () => number;
}

/** Everything behind the doors of one run. Owns what it is given. */
export function serveEgress(doors: Doors, input: EgressInput): DoorService {
  const dns = serveDns(doors, input);
  const connections = serveDoors(doors, input);
  const draining = {
    isIdle: () => dns.isIdle() && connections.isIdle(),
    countSent: () => (dns.isIdle() ? connections.countSent() : undefined),
  };
  let isClosed = false;
  return {
    drain: async () => waitUntilSent(draining, () => isClosed),
    judge: makeConnectJudge(input),
    close: async () => {
      isClosed = true;
      dns.close();
      await connections.close();
      input.resolver.close();
      input.rules.close();
    },
  };
}
