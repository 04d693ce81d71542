import type { Server, Socket } from 'node:net';
import { ByteReader } from './byte-reader.ts';
import { Connections } from './connections.ts';
import { readDescriptorRoom } from './descriptor-room.ts';
import { DIAL_LIMITS, Dialer, type DialLimits, type DialResolver } from './dialer.ts';
import { DOOR_LIMITS, type DoorContext, type DoorLimits, UNREAD } from './door-context.ts';
import type { Doors, DoorService } from './doors.ts';
import { DOORS, type EgressLog, type EgressRules, type NameTable, type Verdict } from './egress.ts';
import { answer } from './http-answers.ts';
import { serveHttpProxy } from './http-proxy.ts';
import type { Interceptor } from './interceptor.ts';
import { reset } from './relay.ts';
import { refuseSocks4, serveSocks } from './socks.ts';
import { askedBy, serveTransparent } from './transparent.ts';

export interface ServeDoorsOptions {
  readonly rules: EgressRules;
  readonly names: NameTable;
  readonly log: EgressLog;
  readonly resolver: DialResolver;
  readonly interceptor?: Interceptor | undefined;
  readonly limits?: Partial<DoorLimits & DialLimits> | undefined;
  readonly now?: (() => number) | undefined;
}

type SendAway = (context: DoorContext, client: Socket) => void;
type Serve = (context: DoorContext, client: Socket) => Promise<void>;

/** Serves the doors for TCP. The name server is another's. */
export function serveDoors(
  { proxy, transparent }: Pick<Doors, 'proxy' | 'transparent'>,
  { rules, names, log, resolver, interceptor, limits, now = Date.now }: ServeDoorsOptions,
): DoorService & { isIdle(): boolean; countSent(): number | undefined } {
  const dialer = new Dialer({ rules, resolver, limits: { ...DIAL_LIMITS, ...limits } });
  const connections = new Connections({ rules, log, dialer, now });
  const room = readDescriptorRoom();
  const asked = { ...DOOR_LIMITS, ...limits };
  const merged = { ...asked, maxClients: Math.min(asked.maxClients, room.connections) };
  const context = { rules, names, connections, limits: merged, interceptor };
  const clients = new Set<Socket>();
  let serving = 0;
  const accept = (serve: Serve, sendAway: SendAway) => (client: Socket) => {
    // Stays for good: an error that nobody listens to would end the process.
    client.on('error', () => undefined);
    if (clients.size >= merged.maxClients) return sendAway(context, client);
    clients.add(client);
    client.once('close', () => clients.delete(client));
    serving++;
    serve(context, client)
      .catch(() => reset(client))
      .finally(() => serving--);
  };
  const servers: [Server, (client: Socket) => void][] = [
    [proxy, accept(serveProxy, sayBusy)],
    ...transparent.map((server): [Server, (client: Socket) => void] => [
      server,
      accept(makeServeTransparent(server), refuseTransparent),
    ]),
  ];
  for (const [server, listener] of servers) server.on('connection', listener);
  return {
    isIdle: () => serving === 0 && connections.isFlushed,
    countSent: () => connections.countSent(),
    async close() {
      for (const [server, listener] of servers) server.off('connection', listener);
      for (const client of clients) reset(client);
      await connections.close();
    },
  };
}

/** A door that leads connections of others has no port of its own, and stands at its place inside. */
function makeServeTransparent(server: Server): Serve {
  let port: number | undefined;
  return async (context, client) => {
    if (port === undefined) {
      const at = server.address();
      port = typeof at === 'object' && at ? at.port : DOORS.transparent.port;
    }
    return serveTransparent(context, client, port);
  };
}

const TOO_MANY: Verdict = {
  isAllowed: false,
  rule: null,
  reason: 'the program has too many connections open',
};

/** Without reading a word: to wait for one would be to serve it. So nobody knows where it was to go. */
function sayBusy({ connections }: DoorContext, client: Socket): void {
  connections.refuse({ door: 'http', destination: UNREAD, client, peer: client }, TOO_MANY);
  client.write(answer(503, { error: 'busy', reason: TOO_MANY.reason }));
  client.destroySoon();
}

function refuseTransparent(context: DoorContext, client: Socket): void {
  const asked = askedBy(context, client);
  if (asked) context.connections.refuse(asked, TOO_MANY);
  reset(client);
}

/** The first byte says which protocol it is. */
async function serveProxy(context: DoorContext, client: Socket): Promise<void> {
  const reader = new ByteReader(client);
  reader.setDeadline(context.limits.headMs);
  if (!(await reader.some())) return void client.destroy();
  const [first] = reader.bytes;
  if (first === 5) return serveSocks(context, client, reader);
  if (first === 4) return refuseSocks4(context, client, reader);
  return serveHttpProxy(context, client, reader);
}
