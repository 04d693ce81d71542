import type { Arch } from '../../host/facts.ts';

/** Which calls the broker takes over. */
export interface BrokeredCalls {
  /**
   * - `effects`: opens that write, create or truncate; `openat2` always, its flags are out of sight
   * - `probe`: those, and reads through `open` or relative to the working directory
   * - `all`: every open but O_PATH ones, which give no access and cannot be handed over
   */
  readonly opens: 'none' | 'effects' | 'probe' | 'all';
  readonly mutations: boolean;
  /** Mode, owner, times and extended attributes, by path and by descriptor. */
  readonly attributes: boolean;
  /** `connect` and `bind`. Datagram sockets, which name a peer in other ways, are refused by `unix: connected`. */
  readonly connect: boolean;
  /** `listen`, which takes a port of its own when nothing was bound. */
  readonly listen?: boolean;
  readonly exec: boolean;
  /** The one call that every program makes as it starts, by which is seen what really runs. */
  readonly start?: boolean;
  /** New processes, not new threads. */
  readonly fork: boolean;
  readonly umask: boolean;
}

export interface SocketRequest {
  /**
   * - `all`: any type of AF_INET and AF_INET6, for a network that is private or wholly allowed
   * - `no-bypass`: TCP only, since MPTCP, SCTP, raw sockets and Fast Open pass Landlock unseen
   */
  readonly inet: 'all' | 'none' | 'no-bypass';
  /** Whether `no-bypass` lets UDP through; `sendmsg` then reaches any address. */
  readonly isUdpAllowed?: boolean;
  /**
   * - `connected`: no datagram sockets, whose `sendmsg` names a peer that the filter cannot see
   * - `none`: only pairs that are born connected
   */
  readonly unix: 'any' | 'connected' | 'none';
  /** NETLINK_ROUTE, by which programs list the network interfaces. */
  readonly netlink: boolean;
}

export interface FilterRequest {
  readonly arch: Arch;
  /** Calls handed to the broker; null when there is no broker. */
  readonly notify: BrokeredCalls | null;
  readonly sockets: SocketRequest;
  /** Refuse attribute changes altogether, where neither broker nor read-only mounts bound them. */
  readonly isAttributeChangeRefused: boolean;
  /** Refuse nested Landlock domains: the broker, which is outside of them, would undo them. */
  readonly isLandlockRefused: boolean;
  /** Refuse nothing but what would pass the broker by: the run is watched, not bounded. */
  readonly isObserveOnly?: boolean;
  /** Refuse System V and POSIX queue IPC, where no IPC namespace keeps the host's out of reach. */
  readonly isIpcRefused?: boolean;
}
