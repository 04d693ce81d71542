import { SandboxError } from '../sandbox-error.ts';
import type { SandboxLimits } from '../spec.ts';
import type { Program, RunLimits } from './protocol.ts';

const NAMES: Readonly<Record<string, Program>> = {
  python3: 'python',
  python: 'python',
  node: 'javascript',
  qjs: 'javascript',
  quickjs: 'javascript',
};
const PLACES = /^\/(?:usr\/)?(?:local\/)?bin\//;

/** Which engine a name stands for; there is nothing else that could be run. */
export function findProgram(name: string | undefined): Program | undefined {
  const bare = (name ?? '').replace(PLACES, '');
  return Object.hasOwn(NAMES, bare) ? NAMES[bare] : undefined;
}

const MIB = 1024 * 1024;

/** What an engine needs to start at all. */
const LEAST_MEMORY: Readonly<Record<Program, number>> = {
  python: 24 * MIB,
  javascript: 4 * MIB,
};
/** What 32-bit addresses reach. */
const MOST_MEMORY = 4 * 1024 ** 3;

export function toRunLimits(limits: SandboxLimits, program: Program): RunLimits {
  const { wallMs, cpuMs, memoryBytes, outputBytes, openFiles } = limits;
  if (
    wallMs === undefined ||
    memoryBytes === undefined ||
    outputBytes === undefined ||
    openFiles === undefined
  )
    throw new SandboxError('limit_invalid', 'A limit is missing that every run has');
  if (memoryBytes < LEAST_MEMORY[program])
    throw new SandboxError(
      'limit_invalid',
      `Cannot run ${program} in so little memory: limits.memoryBytes is too low`,
      { hint: `Give ${LEAST_MEMORY[program]} bytes (${LEAST_MEMORY[program] / MIB}M) at least` },
    );
  return {
    wallMs,
    cpuMs,
    memoryBytes: Math.min(memoryBytes, MOST_MEMORY),
    outputBytes,
    openFiles,
  };
}
