import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

import { inject } from 'vitest';

import { LABEL, OWNER_LABEL } from '../../src/backends/docker/container-options.ts';
import type { Endpoints } from '../../src/backends/docker/endpoint.ts';
import { isOwnerGone, nameOwner } from '../../src/backends/owner.ts';

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

interface Listed {
  readonly Labels: Readonly<Record<string, string>>;
}

/**
 * Containers of one backend, of this process or of processes that are gone, running or not: other files of the tests use
 * the same engine meanwhile, and leave theirs for a while. The connection is closed when this resolves, and not counted
 * itself.
 */
export async function countContainers(
  endpoints: Endpoints,
  backend: 'docker' | 'gvisor',
): Promise<{ containers: number }> {
  const socketPath = 'list' in endpoints ? inject('dockerSocket') : '';
  if (socketPath === '') return { containers: 0 };
  const asked = request({ socketPath, path: '/containers/json?all=1', agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const closed = once(response.socket, 'close');
  const text = (await response.toArray()).join('');
  response.socket.destroy();
  await closed;
  const own = (JSON.parse(text) as Listed[]).filter(({ Labels }) => {
    const owner = Labels[OWNER_LABEL] ?? '';
    return Labels[LABEL] === backend && (owner === nameOwner() || isOwnerGone(owner));
  });
  return { containers: own.length };
}
