import type { RemoteInfo, Socket } from 'node:dgram';
import type { DnsFilter } from './filter.ts';

/** Answers that wait to be sent; what comes above it is lost, as it may be over UDP. */
const MAX_SENDING = 1024;

/**
 * Questions that are looked at in a span of time: more than programs ask, and little enough that a flood of them leaves time
 * for connections. Over UDP, what is not answered is asked again.
 */
export interface UdpLimits {
  readonly spanMs: number;
  readonly inSpan: number;
}

const LIMITS: UdpLimits = { spanMs: 100, inSpan: 200 };

export function serveUdp(socket: Socket, filter: DnsFilter, limits: UdpLimits = LIMITS): void {
  let sending = 0;
  let spanEndMs = 0;
  let inSpan = 0;
  const reply = async (bytes: Buffer, { address, port }: RemoteInfo): Promise<void> => {
    const answer = await filter.answer(bytes, port);
    if (!answer || sending >= MAX_SENDING) return;
    sending++;
    try {
      socket.send(answer, port, address, () => sending--);
    } catch {
      sending--; // the door was closed meanwhile, or nobody can be at that port
    }
  };
  socket.on('message', (bytes, peer) => {
    const nowMs = performance.now();
    if (nowMs >= spanEndMs) {
      spanEndMs = nowMs + limits.spanMs;
      inSpan = 0;
    }
    inSpan++;
    if (inSpan <= limits.inSpan) void reply(bytes, peer);
    // The first one too many is told for all of them.
    else if (inSpan === limits.inSpan + 1) filter.noteFlood(bytes, peer.port);
  });
}
