import { toPrintable } from '../core/printable.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';
import type { Plan } from '../plan/make-plan.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import { SYSTEM_SOURCE } from '../policy/system-baseline.ts';

const RULE = '─'.repeat(18);

export interface BannerInput {
  readonly version: string;
  readonly plan: Plan;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  readonly isDryRun: boolean;
  readonly isVerbose: boolean;
}

function has(plan: Plan, layer: string): boolean {
  return plan.layers.some((report) => report.layer === layer && report.status !== 'absent');
}

function nameBackend(plan: Plan): string {
  if (has(plan, 'landlock')) return 'Landlock';
  if (has(plan, 'broker')) return 'Broker';
  return has(plan, 'mount') ? 'Namespaces' : 'None';
}

function describeMode({ plan, isDryRun }: BannerInput): string {
  if (isDryRun) return 'Dry-Run';
  return nameBackend(plan) === 'None' ? 'Audit' : 'Containment';
}

function describeFiles({ plan, isDryRun }: BannerInput): string {
  if (isDryRun) return 'audit';
  if (nameBackend(plan) === 'None') return 'audit (degraded)';
  return plan.degradations.length > 0 ? 'contain (degraded)' : 'contain';
}

function describeNetwork({ plan, isDryRun }: BannerInput): string {
  if (isDryRun || plan.network === 'host') return "open (the host's network)";
  if (plan.doors)
    return `contain (what net.allow names${plan.doors.status === 'enforced' ? '' : ', degraded'})`;
  if (plan.network === 'private') return 'contain (its own loopback only)';
  return has(plan, 'seccomp') || has(plan, 'landlock') ? 'contain (no network)' : 'open (degraded)';
}

function countRules(policy: Policy): string {
  const fs = { allow: 0, deny: 0, protect: 0, config: 0 };
  for (const { effect, origin } of policy.fs) if (origin.source !== SYSTEM_SOURCE) fs[effect] += 1;
  const net = (effect: string): number =>
    policy.net.filter((rule) => rule.effect === effect).length;
  return `FS(allow:${fs.allow} deny:${fs.deny} protect:${fs.protect + fs.config}) NET(allow:${net('allow')} deny:${net('deny')})`;
}

function listLayers(plan: Plan): string[] {
  return plan.layers.map(
    ({ layer, status, reason }) => `  ${layer.padEnd(9)} ${status}${reason ? ` (${reason})` : ''}`,
  );
}

function listLimits(plan: Plan): string {
  return plan.limits.reports.map(({ limit, strength }) => `${limit} ${strength}`).join(', ');
}

/** What holds for this run and what does not, said before the program starts. */
export function makeBanner(input: BannerInput): string {
  const { version, plan, policy, variables, environment, isDryRun, isVerbose } = input;
  const lines = [
    `Assay Sandbox v${version}`,
    RULE,
    `Backend: ${isDryRun ? 'None' : nameBackend(plan)} (${describeMode(input)})`,
    `  FS:  ${describeFiles(input)}`,
    `  Net: ${describeNetwork(input)}`,
    `  Env: ${environment.banner}`,
  ];
  if (isVerbose)
    lines.push('Layers:', ...listLayers(plan), '  Env Details:', ...listEnvironment(environment));
  lines.push(
    `Policy:  ${policy.name} (${policy.isDefault ? 'default' : 'loaded'})`,
    `Rules:   ${countRules(policy)}`,
  );
  if (plan.limits.reports.length > 0) lines.push(`Limits:  ${listLimits(plan)}`);
  lines.push(`Workdir: ${variables.cwd}`, `Tmp:     ${variables.tmpdir}`, RULE);
  lines.push(...describeDegradations(plan, isDryRun), ...plan.notes.map((note) => `NOTE: ${note}`));
  return `${lines.map(toPrintable).join('\n')}\n`;
}

function listEnvironment({ passed, scrubbed, stripped }: FilteredEnvironment): string[] {
  const lines = [`    Passed: ${passed.length} vars`];
  if (scrubbed.length > 0) lines.push(`    Scrubbed: ${JSON.stringify(scrubbed)}`);
  if (stripped.length > 0) lines.push(`    Stripped: ${JSON.stringify(stripped)}`);
  return lines;
}

/** Also shown with --quiet: what is not enforced is never left unsaid. */
export function describeDegradations(plan: Plan, isDryRun = false): string[] {
  if (isDryRun || plan.degradations.length === 0) return [];
  return [
    `⚠ Degradations: ${plan.degradations.length}`,
    ...plan.degradations.map(({ rule, reason }) => `WARN: ${rule} is not enforced: ${reason}`),
  ];
}
