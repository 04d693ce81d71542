import type { RemoteInfo, Socket } from 'node:dgram';
import type { DnsFilter } from './filter.ts';

/** Answers that wait to be sent; what comes above it is lost, as it may be over UDP. */
const MAX_SENDING = 1024;

export function serveUdp(socket: Socket, filter: DnsFilter): void {
  let sending = 0;
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
  socket.on('message', (bytes, peer) => void reply(bytes, peer));
}
