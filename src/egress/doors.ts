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

/** A program that has no network of its own wants to connect; by the broker, which waits for the answer. */
export interface ConnectRequest {
  readonly address: string;
  readonly port: number;
  /** For a socket that is on its way already, or there. */
  readonly isAgain: boolean;
  /** About a connection that stands, since rules have changed: it is cut if it is not allowed any more. */
  readonly isReview?: boolean;
}

export type ConnectAnswer =
  /** The broker may connect to the same place again without asking, until it is told to forget. */
  | {
      readonly kind: 'dial';
      readonly address: string;
      readonly port: number;
      /** By which the record calls it. */
      readonly endpoint: string;
      readonly canKeep: boolean;
      /** The address may be one of this machine's own; the broker asks the kernel otherwise. */
      readonly mayBeOwn: boolean;
    }
  | { readonly kind: 'door'; readonly door: 'proxy' | 'dns' }
  | { readonly kind: 'refused'; readonly errno: string; readonly endpoint?: string | undefined };

/** Decides about connections that the broker makes itself. */
export interface ConnectJudge {
  judge(request: ConnectRequest): Promise<ConnectAnswer>;
  /** The broker has used an answer again, so many times. */
  noteKept(request: ConnectRequest, times: number): void;
  /** Calls when answers do not hold any more. */
  onForget(listener: () => void): void;
}

/** What serves them. */
export interface DoorService {
  /** The program has ended: resolves when what it had sent or asked for before that is on its way, and told. */
  drain?(): Promise<void>;
  /** Without it the broker connects to nothing but the doors. */
  readonly judge?: ConnectJudge | undefined;
  /** When the run has ended: nothing may be left that keeps node alive. The doors themselves are closed already. */
  close(): Promise<void> | void;
}

export type ServeDoors = (doors: Doors) => DoorService;
