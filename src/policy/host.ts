import { isEncodedLabel } from './idn.ts';
import { formatIp, parseIp } from './ip-address.ts';
import { quote, type Refusal } from './problems.ts';

/** One host: a name in lower case without a trailing dot, or an address in its one canonical text. */
export type Host =
  | { readonly name: string; readonly address?: undefined }
  | { readonly name?: undefined; readonly address: string };

/**
 * The only reader of hosts, for rules and for every door: what it returns is what is decided, resolved and dialled, so no
 * two parts can take the same text for two hosts. It refuses whatever some other reader may take for something else:
 * `0x7f.1`, `127.1`, `2130706433`, `a@b`, white space, NUL, zones, empty labels, letters outside ASCII.
 */
export function parseHost(text: string): Host | Refusal {
  if (text.length > MAX_NAME + 1) return { problem: `a host of ${text.length} characters is none` };
  const address = parseIp(text);
  if (address) return { address: formatIp(address) };
  const name = text.toLowerCase().replace(/\.$/, '');
  return checkName(name, text) ?? { name };
}

/** `host:port`, `[address]:port`: both have to be there. An IPv6 address has to stand in brackets. */
export function parseHostPort(text: string): (Host & { readonly port: number }) | Refusal {
  const refusal = { problem: `${quote(text)} is not a host and a port, such as example.com:443` };
  if (text.length > MAX_NAME + 8) return refusal;
  const [, v6, plain, digits = ''] = /^(?:\[([^[\]]*)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = parseHost(v6 ?? plain ?? '');
  const isV6 = 'address' in host && host.address?.includes(':');
  // [::ffff:1.2.3.4] is an IPv4 address, and was written as IPv6.
  const isBracketed = v6 === undefined ? !isV6 : v6.includes(':');
  if ('problem' in host) return v6 === undefined && plain === undefined ? refusal : host;
  const port = parsePort(digits);
  return isBracketed && port !== undefined ? { ...host, port } : refusal;
}

/** 1 to 65535 in decimal, without leading zeros. */
export function parsePort(text: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** As a person writes it behind `--allow-net`. */
export function formatHostPort(host: Host, port: number | undefined): string {
  const text = host.name ?? host.address ?? '';
  if (port === undefined) return text;
  return text.includes(':') ? `[${text}]:${port}` : `${text}:${port}`;
}

const MAX_NAME = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

function checkName(name: string, text: string): Refusal | undefined {
  const refusal = { problem: `${quote(text)} is not the name of a host` };
  const labels = name.split('.');
  // Before the labels: `1.2.3.4` with an odd spelling deserves a word of its own.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return {
      problem: `${quote(text)} would be an IP address to some programs and a name to others`,
      hint: 'write addresses as four decimal numbers, such as 127.0.0.1, or as IPv6',
    };
  }
  if (name.length > MAX_NAME) return { ...refusal, hint: 'it is longer than 253 characters' };
  // toLowerCase() makes ASCII of a few other letters, such as the Kelvin sign.
  // oxlint-disable-next-line no-control-regex
  if (/[^\u0000-\u007f]/.test(text))
    return { ...refusal, hint: 'an international name is written in ASCII here, as xn--…' };
  if (!labels.every((label) => LABEL.test(label))) return refusal;
  return labels.some(isFalseLabel)
    ? { ...refusal, hint: 'a label that starts with xn-- has to decode to an international one' }
    : undefined;
}

/** An A-label that does not decode: resolvers and libraries differ in what they make of it. */
function isFalseLabel(label: string): boolean {
  return label.startsWith('xn--') && !isEncodedLabel(label.slice(4));
}
