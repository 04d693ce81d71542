import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

import { inject } from 'vitest';

import type { Endpoints } from '../../src/backends/docker/endpoint.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the daemon that was started for this run of the tests; empty where there is none. */
    readonly dockerSocket: string;
    readonly dockerProblem: string;
  }
}

/** The daemon of this run; never another one, which may be somebody's. */
export function dockerEndpoints(): Endpoints {
  const socketPath = inject('dockerSocket');
  return socketPath === '' ? { problem: inject('dockerProblem') } : { list: [{ socketPath }] };
}

/** Containers that the engine knows, running or not. Its connection is closed when this resolves, and not counted itself. */
export async function countContainers(endpoints: Endpoints): Promise<{ containers: number }> {
  const socketPath = 'list' in endpoints ? inject('dockerSocket') : '';
  if (socketPath === '') return { containers: 0 };
  const asked = request({ socketPath, path: '/containers/json?all=1', agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const closed = once(response.socket, 'close');
  const text = (await response.toArray()).join('');
  response.socket.destroy();
  await closed;
  return { containers: (JSON.parse(text) as unknown[]).length };
}
