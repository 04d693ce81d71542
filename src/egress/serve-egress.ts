import { setTimeout as pause } from 'node:timers/promises';
import { makeConnectJudge } from './connect-judge.ts';
import { serveDns } from './dns/serve-dns.ts';
import type { Doors, DoorService } from './doors.ts';
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

const DRAIN_STEP_MS = 2;
/** A server that the program was still waiting for when it ended need not be waited for. */
const QUIET_STEPS = 10;

/** Everything behind the doors of one run. Owns what it is given. */
export function serveEgress(doors: Doors, input: EgressInput): DoorService {
  const dns = serveDns(doors, input);
  const connections = serveDoors(doors, input);
  let isClosed = false;
  return {
    drain: async () => {
      let last: number | undefined;
      for (let quiet = 0; quiet < QUIET_STEPS && !isClosed;) {
        if (dns.isIdle() && connections.isIdle()) return;
        const sent = dns.isIdle() ? connections.countSent() : undefined;
        quiet = sent !== undefined && sent === last ? quiet + 1 : 0;
        last = sent;
        await pause(DRAIN_STEP_MS);
      }
    },
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
