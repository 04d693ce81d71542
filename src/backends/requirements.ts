import type { BackendReport, Guarantees } from './backend.ts';
import { SandboxError, type Unmet } from './sandbox-error.ts';
import {
  DEFAULT_LIMITS,
  KERNELS,
  LIMIT_NAMES,
  type SandboxLimits,
  type SandboxSpec,
} from './spec.ts';

/** With less no sandbox comes up, whatever it is for. */
const LEAST_MEMORY_BYTES = 1024 * 1024;

function checkNumbers(limits: SandboxLimits, where: string): void {
  for (const name of LIMIT_NAMES) {
    const value = limits[name];
    if (value === undefined) continue;
    const isWhole = name === 'cpus' || Number.isSafeInteger(value);
    if (!(value > 0) || !Number.isFinite(value) || !isWhole)
      throw new SandboxError('limit_invalid', `Cannot use ${value} for ${where}.${name}`, {
        hint: `Give a ${name === 'cpus' ? '' : 'whole '}number above zero`,
      });
    if (name === 'memoryBytes' && value < LEAST_MEMORY_BYTES)
      throw new SandboxError('limit_invalid', `Cannot use ${value} for ${where}.${name}`, {
        hint: `No sandbox starts with less than ${LEAST_MEMORY_BYTES} bytes (1M)`,
      });
  }
}

/** The limits of a sandbox: what was asked for, and the defaults for the rest that its backend can keep. */
export function settleLimits(spec: SandboxSpec, guarantees: Guarantees): SandboxLimits {
  const asked = spec.limits ?? {};
  checkNumbers(asked, 'limits');
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
  const unmet = findUnmet(spec, report.guarantees);
  if (unmet.length === 0) return;
  const list = unmet.map(({ item, reason }) => `${item}: ${reason}`).join('; ');
  throw new SandboxError(
    'policy_unenforceable',
    `The backend ${report.id} cannot guarantee what is asked for: ${list}`,
    { unmet, hint: 'assay backends shows what each backend guarantees here' },
  );
}
