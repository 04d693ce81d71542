import type { NetworkEvent } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import type { Names } from './names.ts';

/** Linux hands out these when a program leaves the choice to it (ip_local_port_range). */
const EPHEMERAL = { first: 32_768, last: 60_999 };
/** Without rights a program can have no lower one, so none is drawn. */
const FIRST_DRAWN = 1024;
const MANY_DRAWN = 8;
const ANY_ADDRESS = /^(?:0\.0\.0\.0|::)$/;
const LOOPBACK = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/;

interface BindEvent extends NetworkEvent {
  /** What the kernel chose, where the program left the choice to it. */
  readonly chosenPort?: number | undefined;
}

/** Says what an endpoint is called in a line. */
export function makeEndpointNamer(
  record: RunRecord,
  names: Names,
): (event: NetworkEvent) => string {
  const named = new Set<string>();
  const chosen = new Set<string>();
  const open = new Set<string>();
  const drawn = new Set<number>();
  for (const event of record.events) {
    if (event.kind !== 'network' || event.op !== 'bind' || event.outcome !== 'ok') continue;
    if (isDrawable(event)) drawn.add(event.port);
    const { family, port, chosenPort }: BindEvent = event;
    if (port !== 0) named.add(`${family}:${port}`);
    else if (chosenPort === undefined) open.add(family);
    else chosen.add(`${family}:${chosenPort}`);
  }

  const isDrawn = (event: NetworkEvent): boolean => drawn.size >= MANY_DRAWN && isDrawable(event);

  function isOwnPort({ op, family, host, port }: NetworkEvent): boolean {
    if (port === undefined || op !== 'connect' || !LOOPBACK.test(host)) return false;
    const key = `${family}:${port}`;
    if (chosen.has(key)) return true;
    // Which port it became was not seen.
    const isLikely = open.has(family) && port >= EPHEMERAL.first && port <= EPHEMERAL.last;
    return isLikely && !named.has(key);
  }

  return (event) => {
    const { family, host, port } = event;
    if (family === 'unix') return `unix:${names.pathOf(host)}`;
    if (port === undefined) return `${family}:${host}`;
    const address = host.includes(':') ? `[${host}]` : host;
    return `${family}:${address}:${isOwnPort(event) || isDrawn(event) ? '${PORT}' : port}`;
  };
}

/** A resolver asks each question from another port, which it draws itself, so that nobody can guess it (RFC 5452). */
function isDrawable(event: NetworkEvent): event is NetworkEvent & { readonly port: number } {
  const { op, family, host, port = 0 } = event;
  return op === 'bind' && family === 'udp' && ANY_ADDRESS.test(host) && port >= FIRST_DRAWN;
}

/** Whether a connection is there at once or a moment later is a matter of load. */
export function connectOutcomeOf({ op, outcome }: NetworkEvent): string {
  return op === 'connect' && (outcome === 'EINPROGRESS' || outcome === 'EAGAIN') ? 'ok' : outcome;
}
