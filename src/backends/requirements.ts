import { LEAST_MEMORY_BYTES, MOST_PIDS } from '../policy/units.ts';
import type { BackendReport, Guarantees } from './backend.ts';
import { SandboxError, type Unmet } from './sandbox-error.ts';
import {
  DEFAULT_LIMITS,
  KERNELS,
  LIMIT_NAMES,
  type SandboxLimits,
  type SandboxSpec,
} from './spec.ts';

/** What more or less than this no timer or kernel keeps. */
const BOUNDS: Readonly<
  Partial<Record<keyof SandboxLimits, { least?: number; most?: number; hint: string }>>
> = {
  wallMs: { most: 24 * 24 * 3_600_000, hint: 'Give 24 days at most' },
  cpuMs: { most: 24 * 24 * 3_600_000, hint: 'Give 24 days at most' },
  memoryBytes: {
    least: LEAST_MEMORY_BYTES,
    hint: `No sandbox starts with less than ${LEAST_MEMORY_BYTES} bytes (1M)`,
  },
  pids: { most: MOST_PIDS, hint: `Give ${MOST_PIDS} at most` },
};

function checkNumbers(limits: SandboxLimits, where: string): void {
  for (const name of LIMIT_NAMES) {
    const value = limits[name];
    if (value === undefined) continue;
    const hint = findLimitProblem(name, value);
    if (hint !== undefined)
      throw new SandboxError('limit_invalid', `Cannot use ${value} for ${where}.${name}`, { hint });
  }
}

/** Why a limit cannot be this, as a hint. */
export function findLimitProblem(name: keyof SandboxLimits, value: number): string | undefined {
  const isWhole = name === 'cpus' || Number.isSafeInteger(value);
  if (!(value > 0) || !Number.isFinite(value) || !isWhole)
    return `Give a ${name === 'cpus' ? '' : 'whole '}number above zero`;
  const { least = 0, most = Infinity, hint = '' } = BOUNDS[name] ?? {};
  return value < least || value > most ? hint : undefined;
}

/** The limits of a sandbox: what was asked for, and the defaults for the rest that its backend can keep. */
export function settleLimits(spec: SandboxSpec, guarantees: Guarantees): SandboxLimits {
  const asked = spec.limits ?? {};
  const kept = Object.entries(DEFAULT_LIMITS).filter(
    ([name]) => guarantees.limits[name as keyof typeof DEFAULT_LIMITS] !== 'none',
  );
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...kept, ...given]);
}

/** The limits of one call, which may be less than the sandbox's and never more. */
export function tightenLimits(own: SandboxLimits, asked: SandboxLimits = {}): SandboxLimits {
  checkNumbers(asked, 'options.limits');
  const tightened = LIMIT_NAMES.map((name) => {
    const values = [own[name], asked[name]].filter((value) => value !== undefined);
    return [name, values.length > 0 ? Math.min(...values) : undefined] as const;
  });
  return Object.fromEntries(tightened.filter(([, value]) => value !== undefined));
}

function findUnmetLimits(spec: SandboxSpec, { limits }: Guarantees): Unmet[] {
  return LIMIT_NAMES.filter((name) => spec.limits?.[name] !== undefined).flatMap((name) => {
    const item = `limits.${name}`;
    if (limits[name] === 'none') return [{ item, reason: 'this backend has no such limit here' }];
    if (limits[name] === 'soft' && spec.require?.hardLimits)
      return [{ item, reason: 'only soft here, and hard limits are required' }];
    return [];
  });
}

/** Everything that was asked for and is not guaranteed. */
export function findUnmet(spec: SandboxSpec, guarantees: Guarantees): Unmet[] {
  const unmet = findUnmetLimits(spec, guarantees);
  const add = (item: string, reason: string): void => void unmet.push({ item, reason });
  const { workspace, network, require } = spec;
  if (workspace && !guarantees.workspace.includes(workspace.mode))
    add(
      'workspace.mode',
      `${workspace.mode} is not offered; there is: ${guarantees.workspace.join(', ') || 'none'}`,
    );
  if (network !== undefined && network !== 'none' && guarantees.network === 'none')
    add('network', 'this backend has no network at all here');
  const wanted = require?.kernel;
  if (wanted && KERNELS.indexOf(guarantees.kernel) < KERNELS.indexOf(wanted))
    add('require.kernel', `the kernel is ${guarantees.kernel}, and ${wanted} is required`);
  if (spec.image !== undefined && !guarantees.hasImages) add('image', 'this backend has no images');
  if (spec.modules && !guarantees.hasModuleList)
    add('modules', 'this backend cannot say which modules code imports');
  if (spec.canEval === false && !guarantees.hasEvalSwitch)
    add('canEval', 'this backend cannot switch eval off');
  return unmet;
}

/** Refuses, before anything runs, what this backend cannot give here. There is no weaker fallback. */
export function requireGuarantees(spec: SandboxSpec, report: BackendReport): void {
  if (!report.isAvailable)
    throw new SandboxError(
      'backend_unavailable',
      `Cannot use the backend ${report.id}: ${report.reasons.join('; ')}`,
      { hint: report.hint },
    );
  checkNumbers(spec.limits ?? {}, 'limits');
  const unmet = findUnmet(spec, report.guarantees);
  if (unmet.length === 0) return;
  const list = unmet.map(({ item, reason }) => `${item}: ${reason}`).join('; ');
  throw new SandboxError(
    'policy_unenforceable',
    `The backend ${report.id} cannot guarantee what is asked for: ${list}`,
    { unmet, hint: 'assay backends shows what each backend guarantees here' },
  );
}
