import { type Host, parseHostPort } from '../policy/host.ts';
import { UNREAD } from './door-context.ts';
import type { Destination } from './egress.ts';
import { formatAuthority } from './http-answers.ts';
import { type HeadProblem, listValues, type RequestHead } from './http-head.ts';

/** Where one request goes, and what is written into it. */
export interface HttpTarget {
  readonly destination: Destination;
  readonly path: string;
  /** Of the Host field that is sent. */
  readonly authority: string;
}

/** A host that was named and is not one that could be judged. */
export interface OddHost {
  readonly odd: string;
  readonly problem: string;
}

/** The tunnel that a request came through, which says where it goes. */
export interface TunnelEnd {
  readonly destination: Destination;
  readonly isTls: boolean;
}

/** `host`, with a port or without. */
export function readAuthority(
  text: string,
  defaultPort: number,
): (Host & { port: number; hasPort: boolean }) | OddHost {
  const hasPort = !/^(?:\[[^\]]*\]|[^:]*)$/.test(text);
  const read = parseHostPort(hasPort ? text : `${text}:${defaultPort}`);
  return 'problem' in read ? { odd: text, problem: read.problem } : { ...read, hasPort };
}

/** `http://host:port/path`: what the URI says and what Host says have to be the same. */
export function readProxyTarget(head: RequestHead): HttpTarget | HeadProblem | OddHost {
  const [, authority, rest = ''] = /^http:\/\/([^/?#]*)(.*)$/i.exec(head.target) ?? [];
  if (authority === undefined)
    return bad('a proxy takes CONNECT host:port, or a whole http:// address');
  if (rest.includes('#')) return bad('the target has a fragment');
  const host = readAuthority(authority, 80);
  if ('odd' in host) return host;
  const named = readHostField(head, 80);
  if (named && ('problem' in named || !isSame(named, host)))
    return 'odd' in named || !('problem' in named)
      ? bad('Host and the target name different hosts')
      : named;
  return {
    destination: toDestination(host),
    path: toPath(rest, head.method),
    authority: formatAuthority(host, host.port, 80),
  };
}

/** What came through a tunnel to a name is for that name. An address may serve whatever names it likes. */
export function readTunnelTarget(
  head: RequestHead,
  { destination, isTls }: TunnelEnd,
): HttpTarget | HeadProblem | OddHost {
  const defaultPort = isTls ? 443 : 80;
  const named = readHostField(head, defaultPort);
  if (named && 'problem' in named) return named;
  const [, scheme, authority, rest] = /^(https?):\/\/([^/?#]*)(.*)$/i.exec(head.target) ?? [];
  if (scheme !== undefined && (scheme.toLowerCase() === 'https') !== isTls)
    return bad('the target is of another scheme');
  const isPath = head.target.startsWith('/') || (head.target === '*' && head.method === 'OPTIONS');
  if (head.method === 'CONNECT' || (scheme === undefined && !isPath) || head.target.includes('#'))
    return bad('the target is not a path');
  const whole = authority === undefined ? undefined : readAuthority(authority, defaultPort);
  if (whole && 'problem' in whole) return whole;
  for (const host of [named, whole]) {
    if (!host || isFor(host, destination)) continue;
    const text = formatAuthority(host, host.port, defaultPort);
    return { odd: text, problem: 'the request is for another host than the connection' };
  }
  if (named && whole && !isSame(named, whole))
    return bad('Host and the target name different hosts');
  const { name, address, port } = destination;
  const own = name === undefined ? (whole ?? named) : undefined;
  const host: Host = own ?? (name === undefined ? { address: address ?? '' } : { name });
  return {
    destination,
    path: rest === undefined ? head.target : toPath(rest, head.method),
    authority: formatAuthority(host, port, defaultPort),
  };
}

export function toDestination(host: Host & { readonly port: number }): Destination {
  const { name, address, port } = host;
  return name === undefined ? { protocol: 'tcp', address, port } : { protocol: 'tcp', name, port };
}

/** Where a request was to go that is turned away as it stands, as far as it says so: for the facts alone. */
export function findAim(head: RequestHead): Destination {
  const [, scheme = 'http', authority] = /^([a-z]+):\/\/([^/?#]*)/i.exec(head.target) ?? [];
  const text = authority ?? listValues(head.fields, 'host')[0];
  if (text === undefined) return UNREAD;
  const host = readAuthority(text, scheme.toLowerCase() === 'https' ? 443 : 80);
  return 'odd' in host ? toOddDestination(host.odd) : toDestination(host);
}

/** What a fact says of a host that is none; nothing of it is ever dialled. */
export function toOddDestination(text: string): Destination {
  return { protocol: 'tcp', name: toPrintable(text), port: 0 };
}

export function toPrintable(text: string): string {
  return text.slice(0, 253).replaceAll(/[^!-~]/g, '?');
}

/** Undefined where HTTP/1.0 sends none. */
function readHostField({ fields, minor }: RequestHead, defaultPort: number) {
  const [text, ...more] = listValues(fields, 'host');
  if (more.length > 0) return bad('it has several Host fields');
  if (text !== undefined) return readAuthority(text, defaultPort);
  return minor === 1 ? bad('it has no Host field') : undefined;
}

function isFor(
  host: Host & { readonly port: number; readonly hasPort: boolean },
  { name, port }: Destination,
): boolean {
  if (host.hasPort && host.port !== port) return false;
  return name === undefined || host.name === name;
}

function isSame(one: Host & { port: number }, other: Host & { port: number }): boolean {
  return one.name === other.name && one.address === other.address && one.port === other.port;
}

function toPath(rest: string, method: string): string {
  if (rest === '' && method === 'OPTIONS') return '*';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function bad(problem: string): HeadProblem {
  return { status: 400, problem };
}
