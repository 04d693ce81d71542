/** The other end of a connection, as it stands in a line: `tcp:127.0.0.1:80`, `tcp:example.org:80`, `dns:example.org`, `unix:${TMPDIR}/s`. */
export interface Endpoint {
  /** `tcp`, `udp`, `dns` of a name that was asked for, `unix`, another family by its number, or empty where only a host was written down. */
  readonly family: string;
  readonly host: string;
  /** Absent when it is not a number: a port that the kernel chose stands as `${PORT}`. */
  readonly port?: number | undefined;
}

export function parseEndpoint(text: string): Endpoint {
  const [, family = '', rest = ''] = /^(?:(tcp|udp|dns|unix|\d+):)?(.*)$/s.exec(text) ?? [];
  if (family === 'unix' || family === 'dns') return { family, host: rest };
  const parts = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(rest);
  // An address of version 6 without brackets has no port.
  const host = parts?.[1] ?? parts?.[2] ?? rest;
  const port = /^\d{1,5}$/.test(parts?.[3] ?? '') ? Number(parts?.[3]) : undefined;
  return { family, host, port };
}

/** Whether an address is one that never leaves the machine. A name is none, but for localhost: anybody may name a host 127.example. */
export function isLoopbackHost(host: string): boolean {
  const address = host.toLowerCase().replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address);
}

/** A connection to it goes to the machine itself; who listens on it is reached under every address. */
export function isUnspecifiedHost(host: string): boolean {
  return ['0.0.0.0', '::', '::ffff:0.0.0.0'].includes(host.toLowerCase());
}
