import type { Guarantees, Language, Runtime } from '../backend.ts';

export const MICROVM_GUARANTEES: Guarantees = {
  kernel: 'separate',
  files: 'separate-root',
  // A copy that cannot be changed is what `ro` promises. Nothing is ever written back, so there is no `rw`.
  workspace: ['ro', 'copy'],
  network: 'names',
  limits: {
    wallMs: 'hard',
    // The agent adds up the processor time of a call and ends it; the kernel has no such limit for a group.
    cpuMs: 'soft',
    cpus: 'hard',
    memoryBytes: 'hard',
    pids: 'hard',
    diskBytes: 'hard',
    inodes: 'hard',
    outputBytes: 'hard',
    openFiles: 'hard',
  },
  // The host sees what goes through the door, and nothing else of what happens in the guest.
  coverage: { files: 'absent', programs: 'absent', network: 'complete', environment: 'complete' },
  hasImages: false,
  hasModuleList: false,
  hasEvalSwitch: false,
};

const PROGRAMS: Readonly<Partial<Record<Language, readonly string[]>>> = {
  python: ['python3'],
  javascript: ['node'],
  bash: ['bash'],
};

/** The languages that the guest has said it has. */
export function listLanguages(
  versions: Readonly<Record<string, string>>,
): Partial<Record<Language, Runtime>> {
  const found = Object.entries(PROGRAMS).flatMap(([language, argv]) => {
    const version = versions[language];
    return version === undefined ? [] : [[language, { argv, version }] as const];
  });
  return Object.fromEntries(found);
}
