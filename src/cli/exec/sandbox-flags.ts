import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BACKEND_IDS, type BackendId } from '../../backends/backend.ts';
import { findLimitProblem } from '../../backends/requirements.ts';
import type {
  KERNELS,
  NetworkSpec,
  SandboxLimits,
  SandboxSpec,
  WorkspaceSpec,
} from '../../backends/spec.ts';
import { AssayError } from '../../core/errors.ts';
import {
  COUNT_FORM,
  DURATION_FORM,
  parseCount,
  parseDuration,
  parseSize,
  SIZE_FORM,
} from '../../policy/units.ts';
import type { FlagValues } from '../flag-values.ts';
import { LIMIT_FLAGS } from '../limit-flags.ts';

export const DEFAULT_BACKEND: BackendId = 'local';

export function readBackendId(flags: FlagValues): BackendId {
  const id = flags.text('backend') ?? DEFAULT_BACKEND;
  return BACKEND_IDS.find((known) => known === id) ?? DEFAULT_BACKEND;
}

/** What `assay exec` and `assay mcp` ask of a sandbox, from their flags. */
export function readSpec(flags: FlagValues): SandboxSpec {
  const kernel = flags.text('isolation') as (typeof KERNELS)[number] | undefined;
  return {
    workspace: readWorkspace(flags.text('workspace')),
    network: readNetwork(flags.list('net')),
    env: readEnvironment(flags.list('env')),
    limits: readLimits(flags),
    image: flags.text('image'),
    require:
      kernel !== undefined || flags.has('hard-limits')
        ? { kernel, hardLimits: flags.has('hard-limits') }
        : undefined,
  };
}

function readNetwork(allow: readonly string[]): NetworkSpec {
  return allow.length > 0 ? { allow } : 'none';
}

function readLimits(flags: FlagValues): SandboxLimits {
  const read = (
    name: keyof typeof LIMIT_FLAGS,
    parse: (text: string) => number | undefined,
    form: string,
  ) => {
    const flag = LIMIT_FLAGS[name];
    const text = flags.text(flag.slice(2));
    if (text === undefined) return undefined;
    const value = parse(text) ?? refuse(`${flag} needs ${form}, not ${JSON.stringify(text)}`);
    // Here, and not by the backend only, which knows no more than the number that came of it.
    const hint = findLimitProblem(name, value);
    return hint === undefined ? value : refuse(`Cannot use ${text} for ${flag}`, hint);
  };
  return {
    wallMs: read('wallMs', parseDuration, DURATION_FORM),
    cpuMs: read('cpuMs', parseDuration, DURATION_FORM),
    cpus: read('cpus', parseAmount, 'a number above zero, such as 0.5'),
    memoryBytes: read('memoryBytes', parseSize, SIZE_FORM),
    pids: read('pids', parseCount, COUNT_FORM),
    diskBytes: read('diskBytes', parseSize, SIZE_FORM),
  };
}

function parseAmount(text: string): number | undefined {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : undefined;
}

/** `DIR`, or `DIR:ro`, `DIR:rw`, `DIR:copy`. A copy unless something else is said: nothing is changed then. */
function readWorkspace(text: string | undefined): WorkspaceSpec | undefined {
  if (text === undefined) return undefined;
  const [, directory = text, mode = 'copy'] = /^(.*?)(?::(ro|rw|copy))?$/s.exec(text) ?? [];
  const host = resolve(directory);
  if (!statSync(host, { throwIfNoEntry: false })?.isDirectory())
    return refuse(`--workspace needs a directory, and ${JSON.stringify(directory)} is none`);
  return { host, mode: mode as WorkspaceSpec['mode'] };
}

function readEnvironment(entries: readonly string[]): Record<string, string> | undefined {
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map((entry) => {
      const found = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(entry);
      if (!found) return refuse(`--env needs NAME=VALUE, not ${JSON.stringify(entry)}`);
      return [found[1] ?? '', found[2] ?? ''];
    }),
  );
}

function refuse(message: string, hint?: string): never {
  throw new AssayError('E_USAGE', message, { hint });
}
