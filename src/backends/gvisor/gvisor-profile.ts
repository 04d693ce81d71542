import type { Guarantees } from '../backend.ts';
import type { EngineProfile } from '../docker/engine-backend.ts';
import { makeGuarantees } from '../docker/guarantees.ts';
import type { SandboxLimits } from '../spec.ts';
import { BASE_ENVIRONMENT } from '../steward/environment.ts';

/** What gVisor's own kernel and the process that serves its files take, besides what programs do. */
export const SENTRY_BYTES = 48 * 1024 * 1024;
/** Every process inside is several of the host; the kernel inside counts its own. */
export const HOST_PROCESSES = 2048;
/** The steward, and the shepherd of a call. */
const OWN_PROCESSES = 2;
/** Some programs ask for what this kernel does not know; see docs/engines.md. */
const STAND_INS = '/usr/lib/assay/gvisor';

export const GVISOR_ENVIRONMENT = { PATH: `${STAND_INS}:${BASE_ENVIRONMENT['PATH']}` };

export function countGuestProcesses({ pids }: SandboxLimits): number | undefined {
  return pids === undefined ? undefined : pids + OWN_PROCESSES;
}

/** What differs from a container on the host's kernel. */
export function withGvisor(guarantees: Guarantees): Guarantees {
  return {
    ...guarantees,
    kernel: 'userspace',
    // Its tmpfs has a size, and no number of files; pids are counted by the kernel inside.
    limits: { ...guarantees.limits, inodes: 'none', pids: 'hard' },
  };
}

/** Containers of an engine that has the runtime `runsc`. */
export const GVISOR_CONTAINERS: EngineProfile = {
  id: 'gvisor',
  describe: ({ name, version }) => `runsc by ${name} ${version}`,
  makeGuarantees: (facts) => withGvisor(makeGuarantees(facts)),
  findProblems: ({ runtimes }) =>
    runtimes.includes('runsc')
      ? []
      : [
          {
            reason: 'the engine has no runtime called runsc',
            hint: 'Install runsc and name it in the configuration of the engine (docs/engines.md)',
          },
        ],
  isKernelShared: false,
  env: GVISOR_ENVIRONMENT,
  adjust: () => ({
    runtime: 'runsc',
    // Kept until it is asked why it ended: it ends whole when it is out of memory.
    isForgotten: false,
    pidsLimit: HOST_PROCESSES,
    memoryOverheadBytes: SENTRY_BYTES,
  }),
  countGuestProcesses,
};
