import type { Duplex } from 'node:stream';
import type { Destination } from './egress.ts';
import type { Field } from './http-head.ts';

/** Opens TLS where the user has asked for it, and adds headers to requests that are visible. */
export interface Interceptor {
  /** Whether TLS to this destination is to be opened. */
  isWanted(destination: Destination): boolean;
  /**
   * Speaks TLS with both sides, as a server with the one and as a client with the other; `first` is what the client has
   * sent already, beginning with a ClientHello whose name agrees. What comes back is plain, and is judged as HTTP. Rejects
   * when either side does not agree.
   */
  open(sides: TlsSides): Promise<PlainSides>;
  /** The fields of a request that was allowed, as they are to be sent. */
  editFields(seen: RequestSeen, fields: readonly Field[]): readonly Field[];
}

/** What of a request decides about its headers. */
export interface RequestSeen {
  readonly destination: Destination;
  readonly method: string;
  readonly isTls: boolean;
}

export interface TlsSides {
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly destination: Destination;
  readonly first: Buffer;
  /** Told of what goes wrong before anything is closed for it. */
  readonly onProblem: (problem: string) => void;
}

export interface PlainSides {
  readonly client: Duplex;
  readonly upstream: Duplex;
}
