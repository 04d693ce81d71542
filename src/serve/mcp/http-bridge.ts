import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Known to node, and not to be had as requests of the web. */
const UNSERVED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);

/**
 * A request of node as one of the web; its signal tells when the client has gone. Of one that is none, the answer:
 * anybody can send it, so it is nothing to be told on this side.
 */
export function toWebRequest(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
): Request | Response {
  if (UNSERVED_METHODS.has(request.method ?? ''))
    return Response.json(
      { error: 'method_not_allowed' },
      { status: 405, headers: { Allow: 'GET, POST, DELETE' } },
    );
  try {
    return convert(request, response, origin);
  } catch {
    return Response.json({ error: 'invalid_request' }, { status: 400 });
  }
}

function convert(request: IncomingMessage, response: ServerResponse, origin: string): Request {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = new Headers();
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    headers.append(request.rawHeaders[at] ?? '', request.rawHeaders[at + 1] ?? '');
  const method = request.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(request.url ?? '/', origin), {
    method,
    headers,
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {}),
  } as RequestInit);
}

export async function sendWebResponse(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) {
    response.end();
    return;
  }
  // A stream of events may be silent for long: the client must have the headers before the first.
  response.flushHeaders();
  try {
    await pipeline(
      Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]),
      response,
    );
  } catch (error) {
    // Whoever no longer listens has closed the connection; what was to be sent is of no use to anyone.
    if (!response.destroyed) throw error;
  }
}
