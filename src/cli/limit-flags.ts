import type { LimitNames } from '../backends/limit-names.ts';

/** By which flags `assay exec` and `assay mcp` take limits. */
export const LIMIT_FLAGS = {
  wallMs: '--timeout',
  cpuMs: '--cpu',
  cpus: '--cpus',
  memoryBytes: '--memory',
  pids: '--pids',
  diskBytes: '--disk',
} as const satisfies LimitNames;
