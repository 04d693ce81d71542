import type { Socket } from 'node:net';
import { parseHost } from '../policy/host.ts';
import { isInRange, parseIp, parseRange } from '../policy/ip-address.ts';
import { ByteReader } from './byte-reader.ts';
import type { Asked } from './connections.ts';
import { type DoorContext, toNamed } from './door-context.ts';
import { type Destination, NAME_RANGE } from './egress.ts';
import { reset } from './relay.ts';
import { runTunnel } from './tunnel.ts';

/** A plain connect(): the socket's own address is where the program wanted to go. */
export async function serveTransparent(
  context: DoorContext,
  client: Socket,
  doorPort: number,
): Promise<void> {
  const { connections } = context;
  const asked = askedBy(context, client);
  if (!asked) return reset(client);
  const { destination } = asked;
  const reason = destination.name === undefined && findOddity(destination, doorPort);
  if (reason) {
    connections.refuse(asked, { isAllowed: false, rule: null, reason });
    return reset(client);
  }
  const opened = await connections.open(asked);
  if ('upstream' in opened) await runTunnel(context, opened, new ByteReader(client));
  else reset(client);
}

/** Where it wanted to go; undefined when it is gone already. */
export function askedBy(context: DoorContext, client: Socket): Asked | undefined {
  const { localAddress, localPort } = client;
  const host = parseHost(localAddress ?? '');
  if ('problem' in host || localPort === undefined) return undefined;
  const destination = toNamed(context, { protocol: 'tcp', ...host, port: localPort });
  return { door: 'transparent', destination, client, peer: client };
}

/** Addresses that no rule can mean here. Other ports of loopback come here only where the policy names them. */
const ODDITIES = [
  { range: NAME_RANGE, reason: 'the address stands for no name' },
  { range: '127.0.0.0/8', isDoor: true, reason: 'a door is not a destination' },
  { range: '::1', isDoor: true, reason: 'a door is not a destination' },
];

function findOddity(
  { address: text = '', port }: Destination,
  doorPort: number,
): string | undefined {
  const address = parseIp(text);
  return ODDITIES.find(({ range: at, isDoor = false }) => {
    const range = parseRange(at);
    return (!isDoor || port === doorPort) && address && range && isInRange(range, address);
  })?.reason;
}
