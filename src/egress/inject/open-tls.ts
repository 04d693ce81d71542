import type { Duplex } from 'node:stream';
import { connect, type SecureContext, TLSSocket } from 'node:tls';
import { answer } from '../http-answers.ts';
import type { Destination } from '../egress.ts';
import type { PlainSides, TlsSides } from '../interceptor.ts';
import { endWith } from '../relay.ts';
import type { RunAuthority } from './authority.ts';

export interface OpenTlsOptions {
  readonly authority: RunAuthority;
  /** Whom the user trusts. */
  readonly roots: SecureContext;
  readonly handshakeMs: number;
}

/** HTTP/2 is not read here, so it is offered to neither side. */
const ALPN = ['http/1.1'];

/**
 * Speaks TLS with both sides at once. The server is verified as any client would, by its real name and the user's own
 * authorities, before a byte of a request is read. A client that trusts the run is told over TLS what was wrong with it.
 */
export async function openTls(sides: TlsSides, options: OpenTlsOptions): Promise<PlainSides> {
  const { destination } = sides;
  // Below TLS an end may be on its way without the socket's knowledge, and to reset it then would lose it; see reset().
  for (const side of [sides.client, sides.upstream])
    Object.assign(side, { resetAndDestroy: undefined });
  const [client, upstream] = await Promise.allSettled([
    acceptClient(sides, options),
    reachServer(sides, options),
  ]);
  if (client.status === 'fulfilled' && upstream.status === 'fulfilled')
    return { client: client.value, upstream: upstream.value };
  if (upstream.status === 'fulfilled') upstream.value.destroy();
  else sides.upstream.destroy();
  if (client.status === 'rejected') throw toError(client.reason);
  const { message } = toError((upstream as PromiseRejectedResult).reason);
  await endWithReason(client.value, destination, message);
  throw new Error(message);
}

async function acceptClient(
  { client, destination, first, onProblem }: TlsSides,
  { authority, handshakeMs }: OpenTlsOptions,
): Promise<TLSSocket> {
  const host = destination.name ?? destination.address ?? '';
  if (first.length > 0) client.unshift(first);
  const socket = new TLSSocket(client as never, {
    isServer: true,
    secureContext: authority.contextFor(host),
    ALPNProtocols: ALPN,
    // Without it a name that is sent is not told.
    SNICallback: (_name, done) => done(null, authority.contextFor(host)),
  });
  await waitFor(socket, { event: 'secure', ms: handshakeMs, side: 'the program', onProblem });
  // What was looked at before is the first hello; this is what was agreed on.
  const named = (socket as { servername?: string | false | null }).servername;
  const isRight = destination.name === undefined ? !named : isSameName(named, destination.name);
  if (isRight) return socket;
  const problem = `the name in the TLS hello is not ${host}`;
  onProblem(problem);
  socket.destroy();
  throw new Error(problem);
}

async function reachServer(
  { upstream, destination, onProblem }: TlsSides,
  { roots, handshakeMs }: OpenTlsOptions,
): Promise<TLSSocket> {
  const { name, address } = destination;
  const socket = connect({
    socket: upstream,
    host: name ?? address,
    // An address is not sent as a name (RFC 6066, 3).
    ...(name !== undefined && { servername: name }),
    secureContext: roots,
    ALPNProtocols: ALPN,
    minVersion: 'TLSv1.2',
    // Said outright: a variable of node could make it false.
    rejectUnauthorized: true,
  });
  await waitFor(socket, { event: 'secureConnect', ms: handshakeMs, side: 'the server', onProblem });
  const { alpnProtocol } = socket;
  if (socket.authorized && (!alpnProtocol || ALPN.includes(alpnProtocol))) return socket;
  const problem = 'the certificate of the server cannot be verified';
  onProblem(problem);
  socket.destroy();
  throw new Error(problem);
}

function isSameName(sent: string | false | null | undefined, name: string): boolean {
  return typeof sent === 'string' && sent.toLowerCase() === name;
}

interface Wait {
  readonly event: 'secure' | 'secureConnect';
  readonly ms: number;
  readonly side: string;
  readonly onProblem: (problem: string) => void;
}

async function waitFor(socket: TLSSocket, { event, ms, side, onProblem }: Wait): Promise<void> {
  // Stays for good: an error that nobody listens to would end the process.
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    const settle = (problem?: string): void => {
      clearTimeout(timer);
      socket.off('error', onError).off(event, onDone).off('end', onClose).off('close', onClose);
      // Later: this is called from within OpenSSL, and node does not bear it if sockets are destroyed meanwhile.
      if (problem === undefined) return void setImmediate(resolve);
      onProblem(problem);
      socket.destroy();
      reject(new Error(problem));
    };
    const onDone = (): void => settle();
    const onError = (error: Error): void => settle(`TLS with ${side} failed: ${describe(error)}`);
    const onClose = (): void => settle(`${side} broke off TLS`);
    const timer = setTimeout(() => settle(`${side} did not finish its TLS hello`), ms);
    // Either side may be closed apart, so an end alone closes nothing.
    socket.on('error', onError).on(event, onDone).on('end', onClose).on('close', onClose);
  });
}

/** Of OpenSSL the reason only: the rest is a line of its source. */
function describe(error: Error & { code?: string; reason?: string }): string {
  return error.reason ?? (error.code?.startsWith('ERR_SSL') ? error.code : error.message);
}

async function endWithReason(
  client: Duplex,
  { name, address, port }: Destination,
  reason: string,
): Promise<void> {
  const host = name ?? address;
  await new Promise((resolve) => {
    client.once('close', resolve);
    endWith(client, answer(502, { error: 'bad gateway', host, port, reason }));
    if (client.destroyed) resolve(undefined);
  });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
