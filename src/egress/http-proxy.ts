import type { Socket } from 'node:net';
import { formatHostPort, parseHostPort } from '../policy/host.ts';
import type { ByteReader } from './byte-reader.ts';
import { type DoorContext, toNamed } from './door-context.ts';
import type { Destination } from './egress.ts';
import { answerFailure, answerProblem } from './http-answers.ts';
import { findRequestFraming, listValues, type RequestHead } from './http-head.ts';
import { HttpSession } from './http-session.ts';
import { readAuthority, toDestination, toOddDestination } from './http-target.ts';
import { endWith } from './relay.ts';
import { runTunnel } from './tunnel.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** CONNECT and absolute-form HTTP. */
export async function serveHttpProxy(
  context: DoorContext,
  client: Socket,
  reader: ByteReader,
): Promise<void> {
  const session = new HttpSession({ context, door: 'http', client, reader, peer: client });
  const head = await session.run();
  if (head) await serveConnect(context, client, { reader, head });
}

async function serveConnect(
  context: DoorContext,
  client: Socket,
  { reader, head }: { readonly reader: ByteReader; readonly head: RequestHead },
): Promise<void> {
  const { connections } = context;
  const fail = (words: Buffer): void => {
    reader.detach();
    endWith(client, words);
  };
  const turnAway = (problem: string, destination: Destination): void => {
    const verdict = { isAllowed: false, rule: null, reason: problem };
    connections.refuse({ door: 'http', destination, client, peer: client }, verdict);
    fail(answerProblem({ status: 400, problem }));
  };
  const host = parseHostPort(head.target);
  if ('problem' in host) return turnAway(host.problem, toOddDestination(head.target));
  const destination = toNamed(context, toDestination(host));
  const problem = checkConnect(head, formatHostPort(host, host.port));
  if (problem !== undefined) return turnAway(problem, destination);
  const opened = await connections.open({ door: 'http', destination, client, peer: client });
  if (!('upstream' in opened)) return fail(answerFailure(destination, opened));
  if (client.writable) client.write(ESTABLISHED);
  await runTunnel(context, opened, reader);
}

/** Undefined when nothing in the head speaks of something else. */
function checkConnect(head: RequestHead, target: string): string | undefined {
  const [text, ...more] = listValues(head.fields, 'host');
  if (more.length > 0) return 'it has several Host fields';
  if (text !== undefined && text !== head.target) {
    const [, , port = ''] = /^(.*):(\d+)$/.exec(target) ?? [];
    const named = readAuthority(text, Number(port));
    if ('odd' in named || formatHostPort(named, named.port) !== target)
      return 'Host and the target name different hosts';
  }
  const framing = findRequestFraming(head);
  if ('problem' in framing) return framing.problem;
  const isBare = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
  return isBare ? undefined : 'CONNECT has no body';
}
