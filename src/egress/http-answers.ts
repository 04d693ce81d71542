import { formatHostPort, type Host } from '../policy/host.ts';
import type { Failure } from './connections.ts';
import type { Destination } from './egress.ts';
import type { HeadProblem } from './http-head.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** A whole answer, after which the connection ends. */
export function answer(status: number, body: Readonly<Record<string, unknown>>): Buffer {
  const text = Buffer.from(`${JSON.stringify(body)}\n`);
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), text]);
}

/** As HEAD is answered. */
export function withoutBody(words: Buffer): Buffer {
  return words.subarray(0, words.indexOf('\r\n\r\n') + 4);
}

export function answerProblem({ status, problem }: HeadProblem): Buffer {
  return answer(status, { error: 'bad request', reason: problem });
}

export function answerFailure({ name, address, port }: Destination, failure: Failure): Buffer {
  const host = name ?? address;
  if ('refusal' in failure) {
    const { rule, reason, hint } = failure.refusal;
    const said = { rule, reason: reason ?? null, allow: hint ?? null };
    return answer(403, { error: 'refused', host, port, ...said });
  }
  const { errno } = failure;
  const status = STATUS_BY_ERRNO[errno] ?? 502;
  return answer(status, { error: 'unreachable', host, port, errno });
}

/** ETIMEOUT and EBUSY are the resolver's. */
const STATUS_BY_ERRNO: Readonly<Record<string, number>> = {
  ETIMEDOUT: 504,
  ETIMEOUT: 504,
  EAGAIN: 503,
  EBUSY: 503,
};

/** As it stands behind `Host:`. */
export function formatAuthority(host: Host, port: number, defaultPort: number): string {
  if (port !== defaultPort) return formatHostPort(host, port);
  const text = host.name ?? host.address ?? '';
  return text.includes(':') ? `[${text}]` : text;
}
