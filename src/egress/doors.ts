import type { Socket } from 'node:dgram';
import type { Server } from 'node:net';

/**
 * The doors of one run: sockets inside its network namespace that assay serves from outside. Their addresses are DOORS.
 * They accept from the moment they are handed over, so listeners are added at once. Both sides of a connection may be
 * closed apart (allowHalfOpen), and nothing is delayed (noDelay).
 */
export interface Doors {
  readonly proxy: Server;
  /** One for IPv4, and one for IPv6 where the policy allows addresses of it. A socket's localAddress is what it was for. */
  readonly transparent: readonly Server[];
  readonly dns: Socket;
  readonly dnsTcp: Server;
}

/** What serves them. */
export interface DoorService {
  /** The program has ended: resolves when what it had sent or asked for before that is on its way, and told. */
  drain?(): Promise<void>;
  /** When the run has ended: nothing may be left that keeps node alive. The doors themselves are closed already. */
  close(): Promise<void> | void;
}

export type ServeDoors = (doors: Doors) => DoorService;
