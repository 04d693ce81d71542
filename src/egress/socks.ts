import type { Socket } from 'node:net';
import { parseHost } from '../policy/host.ts';
import { formatIp, fromIpBytes } from '../policy/ip-address.ts';
import type { ByteReader } from './byte-reader.ts';
import type { Failure } from './connections.ts';
import { type DoorContext, toNamed, UNREAD } from './door-context.ts';
import type { Destination } from './egress.ts';
import { toOddDestination } from './http-target.ts';
import { endWith } from './relay.ts';
import { runTunnel } from './tunnel.ts';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const REPLY = {
  ok: 0,
  failed: 1,
  refused: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  connectionRefused: 5,
  timedOut: 6,
  badCommand: 7,
  badAddress: 8,
} as const;

const BY_ERRNO: Readonly<Record<string, number>> = {
  ECONNREFUSED: REPLY.connectionRefused,
  ENETUNREACH: REPLY.networkUnreachable,
  EHOSTUNREACH: REPLY.hostUnreachable,
  ENOTFOUND: REPLY.hostUnreachable,
  ETIMEDOUT: REPLY.timedOut,
  ETIMEOUT: REPLY.timedOut,
};

/** SOCKS 5 without a password (RFC 1928); only CONNECT. */
export async function serveSocks(
  context: DoorContext,
  client: Socket,
  reader: ByteReader,
): Promise<void> {
  const fail = (words: Buffer): void => {
    reader.detach();
    endWith(client, words);
  };
  const { connections } = context;
  const methods = await readGreeting(reader);
  if (!methods) return void client.destroy();
  if (!methods.includes(NO_AUTHENTICATION)) {
    refuseUnread(context, client, 'SOCKS has no passwords here');
    return fail(Buffer.from([VERSION, NO_METHOD]));
  }
  client.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const request = await readRequest(reader);
  if (request === undefined) return void client.destroy();
  reader.setDeadline(0);
  const destination = toNamed(context, request.destination);
  const asked = { door: 'socks', destination, client, peer: client } as const;
  if (request.problem !== undefined) {
    connections.refuse(asked, { isAllowed: false, rule: null, reason: request.problem });
    return fail(reply(request.code ?? REPLY.refused));
  }
  const opened = await connections.open(asked);
  if (!('upstream' in opened)) return fail(reply(toReply(opened)));
  if (client.writable) client.write(reply(REPLY.ok));
  await runTunnel(context, opened, reader);
}

/** SOCKS 4 names no hosts in a way that could be told from addresses. */
export function refuseSocks4(context: DoorContext, client: Socket, reader: ByteReader): void {
  refuseUnread(context, client, 'SOCKS 4 is not spoken here');
  reader.detach();
  endWith(client, Buffer.from([0, 0x5b, 0, 0, 0, 0, 0, 0]));
}

function refuseUnread({ connections }: DoorContext, client: Socket, reason: string): void {
  const asked = { door: 'socks', destination: UNREAD, client, peer: client } as const;
  connections.refuse(asked, { isAllowed: false, rule: null, reason });
}

/** The address that it is bound to is nobody's business inside. */
function reply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

function toReply(failure: Failure): number {
  if ('refusal' in failure) return REPLY.refused;
  return BY_ERRNO[failure.errno] ?? REPLY.failed;
}

async function readGreeting(reader: ByteReader): Promise<Buffer | undefined> {
  const start = await readExactly(reader, 2);
  return start && readExactly(reader, start[1] ?? 0);
}

interface SocksRequest {
  readonly destination: Destination;
  /** The host is none, or something else than a connection to it is asked for. */
  readonly problem?: string;
  /** The reply to that, where it has one of its own. */
  readonly code?: number;
}

/** Undefined where it is not SOCKS. */
async function readRequest(reader: ByteReader): Promise<SocksRequest | undefined> {
  const start = await readExactly(reader, 4);
  if (!start) return undefined;
  const [version, command, reserved, type] = start;
  if (version !== VERSION || reserved !== 0) return undefined;
  if (type !== 1 && type !== 3 && type !== 4)
    return { destination: UNREAD, problem: 'no such kind of address', code: REPLY.badAddress };
  const length = type === 3 ? (await readExactly(reader, 1))?.[0] : type * 4;
  const host = length ? await readExactly(reader, length) : undefined;
  const port = (host && (await readExactly(reader, 2)))?.readUInt16BE(0);
  if (!host || port === undefined) return undefined;
  const address = type === 3 ? undefined : fromIpBytes(host);
  const text = address ? formatIp(address) : host.toString('latin1');
  const parsed = parseHost(text);
  if ('problem' in parsed) return { destination: toOddDestination(text), problem: parsed.problem };
  const destination: Destination = { protocol: 'tcp', ...parsed, port };
  if (command !== CONNECT)
    return { destination, problem: 'SOCKS connects and nothing else', code: REPLY.badCommand };
  return port === 0 ? { destination, problem: '0 is not a port' } : { destination };
}

async function readExactly(reader: ByteReader, count: number): Promise<Buffer | undefined> {
  while (reader.bytes.length < count) if (!(await reader.more())) return undefined;
  return Buffer.from(reader.take(count));
}
