import type { Duplex } from 'node:stream';
import { type ByteReader, send } from './byte-reader.ts';
import { sendBody } from './http-body.ts';
import {
  type Field,
  findHeadEnd,
  findResponseFraming,
  frameFields,
  type Framing,
  hasWord,
  keepFields,
  listValues,
  parseResponseHead,
  type RequestHead,
  type ResponseHead,
  writeHead,
} from './http-head.ts';
import type { HttpTarget } from './http-target.ts';
import type { Interceptor } from './interceptor.ts';

/** One request that was allowed. */
export interface Exchange {
  readonly head: RequestHead;
  readonly target: HttpTarget;
  readonly framing: Framing;
  readonly isTls: boolean;
  /** There is one connection to the host, and no other is dialled for the client. */
  readonly isTunnel: boolean;
}

export type AnswerEnd =
  /** Whole, and the connection can carry another. */
  | 'kept'
  /** Whole, and the upstream takes no more. */
  | 'closed'
  /** Whole, and the client was told that its connection ends. */
  | 'last'
  | 'switched'
  /** Nothing came. */
  | 'dead'
  /** Not HTTP, and nothing was handed on. */
  | 'bad'
  /** Broken off in the middle. */
  | 'broken';

/** The head as the upstream gets it. */
export function writeRequest(exchange: Exchange, interceptor: Interceptor | undefined): Buffer {
  const { head, target, framing, isTls } = exchange;
  const kept = keepFields(head.fields);
  const seen = { destination: target.destination, method: head.method, isTls };
  const edited = interceptor?.editFields(seen, kept) ?? kept;
  const fields: Field[] = [['Host', target.authority], ...edited, ...frameFields(framing)];
  if (isUpgrade(exchange)) fields.push(['Connection', 'Upgrade'], ['Upgrade', 'websocket']);
  else if (hasWord(head.fields, 'te', 'trailers'))
    fields.push(['Connection', 'TE'], ['TE', 'trailers']);
  return writeHead(`${head.method} ${target.path} HTTP/1.${head.minor}`, fields);
}

/** The client of one exchange. `isSent`: whether its request has gone out whole by now. */
export interface Asker {
  readonly stream: Duplex;
  readonly isSent: () => boolean;
}

export async function receiveAnswer(
  upstream: ByteReader,
  client: Asker,
  exchange: Exchange,
): Promise<AnswerEnd> {
  for (;;) {
    const head = await readAnswerHead(upstream);
    if (typeof head === 'string') return head;
    if (head.status === 101) return switchProtocol(head, client.stream, exchange);
    if (head.status >= 200) return sendAnswer(upstream, client, { head, exchange });
    if (exchange.head.minor === 0) continue;
    if (!(await send(client.stream, writeHead(toLine(head), keepFields(head.fields)))))
      return 'broken';
  }
}

/** Only to what a browser would: HTTP/2 by this way would hide the requests. */
function isUpgrade({ head, framing }: Exchange): boolean {
  const [upgrade, ...more] = listValues(head.fields, 'upgrade');
  const isAsked = upgrade?.toLowerCase() === 'websocket' && more.length === 0;
  const isPlain = head.method === 'GET' && framing.kind === 'none' && head.minor === 1;
  return isAsked && isPlain && hasWord(head.fields, 'connection', 'upgrade');
}

async function readAnswerHead(upstream: ByteReader): Promise<ResponseHead | 'dead' | 'bad'> {
  for (let seen = 0; ;) {
    const end = findHeadEnd(upstream.bytes, seen);
    if (typeof end === 'object') return 'bad';
    if (end > 0) {
      const head = parseResponseHead(upstream.take(end));
      return 'problem' in head ? 'bad' : head;
    }
    seen = upstream.bytes.length;
    if (!(await upstream.more())) return seen === 0 ? 'dead' : 'bad';
  }
}

async function switchProtocol(
  head: ResponseHead,
  client: Duplex,
  exchange: Exchange,
): Promise<AnswerEnd> {
  if (!isUpgrade(exchange)) return 'bad';
  const fields: Field[] = [
    ...keepFields(head.fields),
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
  ];
  return (await send(client, writeHead(toLine(head), fields))) ? 'switched' : 'broken';
}

async function sendAnswer(
  upstream: ByteReader,
  client: Asker,
  { head, exchange }: { readonly head: ResponseHead; readonly exchange: Exchange },
): Promise<AnswerEnd> {
  const framing = findResponseFraming(head, exchange.head.method);
  if ('problem' in framing) return 'bad';
  const isOld = exchange.head.minor === 0;
  // An old client knows no chunks; a server that was asked in HTTP/1.0 sends none.
  if (isOld && framing.kind === 'chunked') return 'bad';
  const isKept = head.minor === 1 && !hasWord(head.fields, 'connection', 'close');
  const wantsClose = isOld || hasWord(exchange.head.fields, 'connection', 'close');
  const isSpent = framing.kind === 'close' || (exchange.isTunnel && !isKept);
  // Before the request was whole nobody can tell whether what the client sends next still belongs to it.
  const isLast = wantsClose || isSpent || !client.isSent();
  const fields: Field[] = [
    ...keepFields(head.fields),
    ...(framing.kind === 'none' ? keepLength(head) : frameFields(framing)),
    ...(framing.kind === 'chunked' ? announceTrailers(head) : []),
    ...(isLast ? [['Connection', 'close'] as const] : []),
  ];
  if (!(await send(client.stream, writeHead(toLine(head), fields)))) return 'broken';
  const end = await sendBody(upstream, client.stream, { framing, isRequest: false });
  if (end !== 'whole') return 'broken';
  if (isLast) return 'last';
  return isKept ? 'kept' : 'closed';
}

/** Of an answer without a body the length is only told; 204 never has one (RFC 9110, 8.6). */
function keepLength({ status, fields }: ResponseHead): Field[] {
  const [value = '', ...more] = listValues(fields, 'content-length');
  const isTold = status !== 204 && more.length === 0 && /^\d+$/.test(value);
  return isTold ? [['Content-Length', value]] : [];
}

function announceTrailers({ fields }: ResponseHead): Field[] {
  return listValues(fields, 'trailer').map((value) => ['Trailer', value] as const);
}

function toLine({ status, reason }: ResponseHead): string {
  return `HTTP/1.1 ${status} ${reason}`;
}
