import { AssayError } from '../core/errors.ts';
import type { EnvRules, Limits } from '../policy/policy.ts';
import {
  COUNT_FORM,
  DURATION_FORM,
  MEMORY_FORM,
  parseCount,
  parseDuration,
  parseMemory,
  parsePids,
  parseSize,
  PIDS_FORM,
  SIZE_FORM,
} from '../policy/units.ts';
import type { FlagValues } from './flag-values.ts';

function readLimit(
  flags: FlagValues,
  name: string,
  parse: (value: string) => number | undefined,
  form: string,
): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === undefined)
    throw new AssayError('E_USAGE', `Cannot read "${text}" for --${name}: expected ${form}`);
  return value;
}

/** What the command line limits; the rest is the policy's. */
export function readLimits(flags: FlagValues): Limits {
  const limits: Limits = {
    timeoutMs: readLimit(flags, 'timeout', parseDuration, DURATION_FORM),
    cpuMs: readLimit(flags, 'limit-cpu', parseDuration, DURATION_FORM),
    memoryBytes: readLimit(flags, 'limit-memory', parseMemory, MEMORY_FORM),
    pids: readLimit(flags, 'limit-pids', parsePids, PIDS_FORM),
    diskBytes: readLimit(flags, 'limit-disk', parseSize, SIZE_FORM),
    files: readLimit(flags, 'limit-files', parseCount, COUNT_FORM),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** The rules for the environment, with what the command line adds. */
export function readEnvRules(flags: FlagValues, policy: EnvRules): EnvRules {
  const mode = flags.has('env-passthrough')
    ? 'passthrough'
    : flags.has('env-strict')
      ? 'strict'
      : policy.mode;
  return {
    ...policy,
    mode,
    isExecStripped: policy.isExecStripped || flags.has('env-strip-exec'),
    isPathSafe: policy.isPathSafe || flags.has('env-safe-path'),
    allow: [...policy.allow, ...flags.list('env-allow')],
  };
}
