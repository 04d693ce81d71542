import type { Connections } from './connections.ts';
import type { Destination, EgressRules, NameTable } from './egress.ts';
import type { Interceptor } from './interceptor.ts';

export interface DoorLimits {
  /** Accepted connections of all doors together; more are reset. */
  readonly maxClients: number;
  /** From the first byte of a head, or of a TLS hello, to its last. */
  readonly headMs: number;
  /** Between two requests on one connection. */
  readonly idleMs: number;
}

export const DOOR_LIMITS: DoorLimits = { maxClients: 4096, headMs: 30_000, idleMs: 120_000 };

/** What every door works with. */
export interface DoorContext {
  readonly rules: EgressRules;
  readonly names: NameTable;
  readonly connections: Connections;
  readonly limits: DoorLimits;
  readonly interceptor?: Interceptor | undefined;
}

/** What a fact says of a connection from which nobody could read where it was to go. */
export const UNREAD: Destination = { protocol: 'tcp', name: 'unread', port: 0 };

/** Programs that look names up by themselves hand the proxy the address that stands for one. */
export function toNamed({ names }: DoorContext, destination: Destination): Destination {
  const name = destination.address === undefined ? undefined : names.nameOf(destination.address);
  return name === undefined ? destination : { protocol: 'tcp', name, port: destination.port };
}
