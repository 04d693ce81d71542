import type { Duplex } from 'node:stream';
import { parseHost } from '../policy/host.ts';
import { ByteReader } from './byte-reader.ts';
import type { Connection } from './connections.ts';
import type { DoorContext } from './door-context.ts';
import { lookAtFirst } from './first-look.ts';
import { HttpSession } from './http-session.ts';
import { pump, reset, tieTogether } from './relay.ts';

/**
 * Carries bytes between a program and where it wanted to go. To a name, the first words of the program have to agree with
 * it: the server name of a TLS hello, which has to be there, and the Host of each plain HTTP/1 request. What else is spoken
 * is not understood here and passes, except where HTTP rules ask for requests that can be seen. TLS that is not opened
 * hides them, and what it encrypts of its hello; the name in the open has to agree all the same.
 */
export async function runTunnel(
  context: DoorContext,
  connection: Connection,
  reader: ByteReader,
): Promise<void> {
  const { upstream, asked } = connection;
  const { client, destination } = asked;
  if (client.destroyed) return void upstream.destroy();
  const untie = tieTogether(client, upstream);
  const isStrict = context.rules.isInspected(destination);
  if (destination.name === undefined && !isStrict) {
    pump(upstream, client);
    passOn(reader, upstream);
    return connection.learnPeer();
  }
  // Not held back until then: in many protocols the server speaks first.
  const stop = pump(upstream, client);
  connection.learnPeer();
  const { headMs } = context.limits;
  const words = await lookAtFirst(reader, { upstream, isStrict, headMs });
  if (words.kind === 'bad') return connection.cut(`cut: ${words.problem}`);
  if (words.kind === 'http') {
    stop();
    if (upstream.bytesRead > 0) return connection.cut('cut: an HTTP server spoke first');
    untie();
    return serveHttp(context, { connection, reader, client, upstream, isTls: false });
  }
  if (words.kind === 'tls') {
    const problem = checkServerName(words.serverName, destination.name);
    if (problem !== undefined) return connection.cut(`cut: ${problem}`);
    if (context.interceptor?.isWanted(destination)) {
      stop();
      untie();
      return openTls(context, connection, reader);
    }
  }
  // Also of a client that has ended already: a server answers one that only listens any more.
  const isSilent = reader.isEnded && reader.bytes.length === 0;
  if (words.kind === 'other' && isStrict && !isSilent)
    return connection.cut('cut: neither HTTP/1 nor TLS, and HTTP rules apply');
  passOn(reader, upstream);
}

/** Undefined when they agree. An address has no name to agree with. */
function checkServerName(
  serverName: string | undefined,
  name: string | undefined,
): string | undefined {
  if (name === undefined) return undefined;
  if (serverName === undefined) return 'TLS without a server name';
  const host = parseHost(serverName);
  const isSame = !('problem' in host) && host.name === name;
  return isSame ? undefined : `TLS for ${serverName.slice(0, 253).replaceAll(/[^!-~]/g, '?')}`;
}

function passOn(reader: ByteReader, upstream: Duplex): void {
  const { isEnded } = reader;
  const rest = reader.detach();
  if (rest.length > 0 && upstream.writable) upstream.write(rest);
  if (isEnded) upstream.end();
  else pump(reader.stream, upstream);
}

interface HttpSides {
  readonly connection: Connection;
  readonly reader: ByteReader;
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly isTls: boolean;
}

async function serveHttp(
  context: DoorContext,
  { connection, reader, client, upstream, isTls }: HttpSides,
): Promise<void> {
  const { door, peer, destination } = connection.asked;
  const tunnel = { destination, isTls, connection, upstream };
  await new HttpSession({ context, door, client, reader, peer, tunnel }).run();
}

async function openTls(
  context: DoorContext,
  connection: Connection,
  reader: ByteReader,
): Promise<void> {
  const { upstream, asked } = connection;
  const first = reader.detach();
  const { client, destination } = asked;
  client.pause();
  const onProblem = (problem: string): void => {
    connection.note ??= `cut: ${problem.slice(0, 200)}`;
  };
  const sides = { client, upstream, destination, first, onProblem };
  try {
    const plain = await context.interceptor?.open(sides);
    if (!plain) return connection.cut('cut: TLS could not be opened');
    plain.client.on('error', () => reset(asked.client));
    plain.upstream.on('error', () => reset(upstream));
    const inner = new ByteReader(plain.client);
    await serveHttp(context, { ...plain, connection, reader: inner, isTls: true });
  } catch (error) {
    onProblem(error instanceof Error ? error.message : String(error));
    connection.cut('cut');
  }
}
