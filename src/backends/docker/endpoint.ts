import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where an engine may listen. */
export type Endpoint =
  { readonly socketPath: string } | { readonly host: string; readonly port: number };

export type Endpoints = { readonly list: readonly Endpoint[] } | { readonly problem: string };

/** What the environment names, or else the places where engines usually listen, Docker's before Podman's. */
export function listEndpoints(env: NodeJS.ProcessEnv = process.env): Endpoints {
  const named = env['DOCKER_HOST'];
  if (named !== undefined && named !== '') return parseHost(named);
  const run = env['XDG_RUNTIME_DIR'];
  const paths = [
    '/var/run/docker.sock',
    join(homedir(), '.docker/run/docker.sock'),
    ...(run ? [join(run, 'docker.sock'), join(run, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
  ];
  return { list: paths.filter((path) => existsSync(path)).map((socketPath) => ({ socketPath })) };
}

function parseHost(text: string): Endpoints {
  if (text.startsWith('unix://')) return { list: [{ socketPath: text.slice('unix://'.length) }] };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'tcp:' && url.hostname !== '')
    return { list: [{ host: url.hostname, port: Number(url.port || 2375) }] };
  return { problem: `DOCKER_HOST is ${JSON.stringify(text)}, which is neither unix:// nor tcp://` };
}

export function describeEndpoint(endpoint: Endpoint): string {
  return 'socketPath' in endpoint ? endpoint.socketPath : `${endpoint.host}:${endpoint.port}`;
}
