import type { SandboxBackend } from '../backend.ts';
import { EngineBackend, type EngineBackendOptions, type EngineProfile } from './engine-backend.ts';
import { makeGuarantees } from './guarantees.ts';
import { makeFilter } from './program-filter.ts';

const CONTAINERS: EngineProfile = {
  id: 'docker',
  describe: ({ name, version }) => `${name} ${version}`,
  makeGuarantees,
  findProblems: () => [],
  isKernelShared: true,
  makeFilter,
  env: {},
  // The engine forgets it as soon as it has ended, also when nobody is left to ask for that.
  adjust: () => ({ isForgotten: true }),
  countGuestProcesses: () => undefined,
};

/** Containers that Docker or Podman keeps, on the kernel of the host. */
export function createDockerBackend(options: EngineBackendOptions = {}): SandboxBackend {
  return new EngineBackend(CONTAINERS, options);
}
