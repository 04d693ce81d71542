/** `tcp:127.0.0.1:80`, `udp:[::1]:53`, `dns:example.org`, `unix:${TMPDIR}/s`; the older format has a bare host, with a port or without. */
export interface Endpoint {
  /** Empty when it is not known. */
  readonly protocol: string;
  /** An address, a name, or the path of a socket. */
  readonly host: string;
  /** Absent where the port is one of the run itself, and its number means nothing. */
  readonly port?: number;
}

const WITH_PROTOCOL = /^(tcp|udp|dns|unix|[0-9]+):(.*)$/s;
const WITH_PORT = /^(?:\[([^\]]*)\]|([^:]*)):([0-9]{1,5}|\$\{PORT\})$/s;

export function parseEndpoint(text: string): Endpoint {
  const [, protocol = '', rest = text] = WITH_PROTOCOL.exec(text) ?? [];
  if (protocol === 'unix' || protocol === 'dns') return { protocol, host: rest };
  const [, bracketed, plain, port] = WITH_PORT.exec(rest) ?? [];
  const host = bracketed ?? plain ?? rest;
  return /^[0-9]+$/.test(port ?? '') ? { protocol, host, port: Number(port) } : { protocol, host };
}

export function isAddress(host: string): boolean {
  return /^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/.test(host) || /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(host);
}
