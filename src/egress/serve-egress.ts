import type { Server } from 'node:net';
import { serveDns } from './dns/serve-dns.ts';
import type { Doors, DoorService } from './doors.ts';
import type { EgressLog, NameTable } from './egress.ts';
import type { Resolver } from './resolver.ts';
import type { LiveRules } from './rules.ts';

export interface EgressInput {
  readonly rules: LiveRules;
  readonly names: NameTable;
  readonly resolver: Resolver;
  readonly log: EgressLog;
  /** Names of this machine, which lead nowhere but to the loopback inside. */
  readonly ownNames?: readonly string[] | undefined;
  /** As it stands in the facts. */
  readonly now: () => number;
}

/** Everything behind the doors of one run. Owns what it is given. */
export function serveEgress(doors: Doors, input: EgressInput): DoorService {
  const dns = serveDns(doors, input);
  for (const server of [doors.proxy, ...doors.transparent]) refuseAll(server);
  return {
    close: () => {
      dns.close();
      input.resolver.close();
      input.rules.close();
    },
  };
}

function refuseAll(server: Server): void {
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.resetAndDestroy();
  });
}
