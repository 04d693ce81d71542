import type { Guarantees, LimitStrength } from '../backend.ts';
import type { EngineFacts } from './engine.ts';

const hardIf = (isKept: boolean): LimitStrength => (isKept ? 'hard' : 'none');

/** What a container of this engine is kept to. */
export function makeGuarantees(
  facts: Pick<EngineFacts, 'hasCpuQuota' | 'hasMemoryLimit' | 'hasPidsLimit' | 'hasTmpfsOptions'>,
): Guarantees {
  return {
    kernel: 'shared',
    files: 'separate-root',
    workspace: ['ro', 'rw', 'copy'],
    network: 'names',
    limits: {
      wallMs: 'hard',
      // The steward looks every 20 ms; each process has a limit of the kernel's besides.
      cpuMs: 'soft',
      cpus: hardIf(facts.hasCpuQuota),
      memoryBytes: hardIf(facts.hasMemoryLimit),
      pids: hardIf(facts.hasPidsLimit),
      diskBytes: 'hard',
      inodes: hardIf(facts.hasTmpfsOptions),
      outputBytes: 'hard',
      openFiles: 'hard',
    },
    // Without a network there is nothing to see; with one, everything goes through the door.
    coverage: { files: 'absent', programs: 'absent', network: 'complete', environment: 'complete' },
    hasImages: true,
    hasModuleList: false,
    hasEvalSwitch: false,
  };
}

/** Where no engine answers, nothing is guaranteed. */
export const NO_GUARANTEES: Guarantees = {
  kernel: 'shared',
  files: 'separate-root',
  workspace: [],
  network: 'none',
  limits: {
    wallMs: 'none',
    cpuMs: 'none',
    cpus: 'none',
    memoryBytes: 'none',
    pids: 'none',
    diskBytes: 'none',
    inodes: 'none',
    outputBytes: 'none',
    openFiles: 'none',
  },
  coverage: { files: 'absent', programs: 'absent', network: 'absent', environment: 'absent' },
  hasImages: true,
  hasModuleList: false,
  hasEvalSwitch: false,
};
