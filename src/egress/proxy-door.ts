import type { Server, Socket } from 'node:net';
import type { Policy } from '../policy/policy.ts';
import type { DialLimits } from './dialer.ts';
import type { DoorLimits } from './door-context.ts';
import { waitUntilSent } from './drain.ts';
import type { ConnectionFact, NameTable } from './egress.ts';
import type { Interceptor } from './interceptor.ts';
import { makeOutsideLookup } from './outside-lookup.ts';
import { reset } from './relay.ts';
import { makeResolver, type OutsideLookup } from './resolver.ts';
import { type LiveRules, makeEgressRules, type RuleClock } from './rules.ts';
import { serveDoors } from './serve-doors.ts';
import { HostSurroundings } from './surroundings.ts';
import { SYSTEM_CLOCK } from './system-clock.ts';

export interface ProxyDoorInput {
  readonly policy: Pick<Policy, 'net' | 'inject'>;
  /** Once a connection has ended or was refused, with the rule that decided. */
  readonly onConnection: (fact: ConnectionFact) => void;
  /**
   * Who may use the door at all, asked before a word is read; without it everybody who can connect. A server on TCP is
   * open to other users of the machine, so one that is not in a network of its own needs this.
   */
  readonly isWelcome?: ((client: Socket) => boolean) | undefined;
  /** Adds headers and opens TLS, where the policy has that. */
  readonly makeInterceptor?: ((rules: LiveRules) => Interceptor) | undefined;
  readonly limits?: Partial<DoorLimits & DialLimits> | undefined;
  /** How names are looked up; the host's own way unless given. */
  readonly outside?: OutsideLookup | undefined;
  readonly clock?: RuleClock | undefined;
}

export interface ProxyDoor {
  /** To take rules back, or to add some: live connections are judged again. */
  readonly rules: LiveRules;
  /** Whoever used it has ended: resolves when what was sent by then is on its way, and told. */
  drain(): Promise<void>;
  /** Cuts what is open, tells of it, and leaves the server to its owner. Nothing is left that keeps node alive. */
  close(): Promise<void>;
}

/** Where nothing stands for a name, as without a resolver of assay's own. */
const NO_NAMES: NameTable = { addressOf: () => undefined, nameOf: () => undefined };

/**
 * The proxy of a run, for whatever runs elsewhere: HTTP CONNECT, absolute-form HTTP and SOCKS 5 on a server of the
 * caller's, on a unix socket or on TCP, by the same rules, checks and facts as inside a sandbox. The server stays the
 * caller's, who listens and closes it.
 */
export function serveProxyDoor(server: Server, input: ProxyDoorInput): ProxyDoor {
  const { policy, onConnection, isWelcome = () => true, makeInterceptor, limits } = input;
  const surroundings = new HostSurroundings();
  const rules = makeEgressRules({ policy, clock: input.clock ?? SYSTEM_CLOCK, surroundings });
  const outside = input.outside ?? makeOutsideLookup();
  const resolver = makeResolver({ rules, outside, surroundings });
  const prepare = (client: Socket): void => {
    // Each side may close by itself, and nothing is delayed, however the server was made.
    client.allowHalfOpen = true;
    client.setNoDelay(true);
    if (!isWelcome(client)) reset(client);
  };
  server.prependListener('connection', prepare);
  const service = serveDoors(
    { proxy: server, transparent: [] },
    {
      rules,
      names: NO_NAMES,
      resolver,
      log: { question: () => undefined, connection: onConnection },
      interceptor: makeInterceptor?.(rules),
      limits,
    },
  );
  let isClosed = false;
  return {
    rules,
    drain: async () => waitUntilSent(service, () => isClosed),
    close: async () => {
      isClosed = true;
      server.off('connection', prepare);
      await service.close();
      resolver.close();
      rules.close();
    },
  };
}
