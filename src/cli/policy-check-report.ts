import { findConflicts } from '../policy/conflicts.ts';
import { isLiteral, unescapeLiteral } from '../policy/glob.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import type { FileTree } from '../plan/file-tree.ts';
import type { Plan } from '../plan/make-plan.ts';
import type { Degradation, Layer } from '../plan/plan.ts';
import { formatRule, type RuleText, toRuleText } from './explain/rule-text.ts';

/** A refusing rule inside what others allow, and what keeps it here. */
export interface CheckedConflict {
  readonly deny: RuleText;
  readonly inside: readonly RuleText[];
  /** Empty: nothing enforces it here, and `degradations` says why. */
  readonly layers: readonly Layer[];
}

/** `assay policy check FILE --json` prints exactly this when the file is sound. */
export interface PolicyCheck {
  readonly schema: 'assay.policy-check.v1';
  readonly isOk: true;
  readonly file: string;
  readonly counts: Readonly<
    Record<'allow' | 'deny' | 'protect' | 'netAllow' | 'netDeny' | 'unix' | 'limits', number>
  >;
  /** Examples under `tests`, of this file and those it extends. All of them hold. */
  readonly examples: number;
  readonly conflicts: readonly CheckedConflict[];
  readonly degradations: readonly Degradation[];
  readonly notes: readonly string[];
}

export interface CheckInput {
  readonly file: string;
  readonly policy: Policy;
  readonly plan: Plan;
  readonly tree: FileTree;
  readonly examples: number;
}

function isOwn({ origin }: FsRule): boolean {
  return origin.source !== 'system baseline' && origin.source !== 'configuration protection';
}

function findLayers(deny: FsRule, { plan, tree }: CheckInput): Layer[] {
  const layers: Layer[] = [];
  if (plan.launch.flags.isNotified) layers.push('broker');
  const path = isLiteral(deny.pattern) ? tree.realpath(unescapeLiteral(deny.pattern)) : null;
  const kind = deny.effect === 'deny' ? 'mask' : 'bind';
  if (path !== null && plan.launch.mounts.some((op) => op.kind === kind && op.path === path))
    layers.push('mount');
  return layers;
}

function listConflicts(input: CheckInput): CheckedConflict[] {
  const byDeny = new Map<FsRule, FsRule[]>();
  for (const { deny, allow } of findConflicts(input.policy))
    byDeny.set(deny, [...(byDeny.get(deny) ?? []), allow]);
  return Array.from(byDeny, ([deny, allows]) => ({
    deny: toRuleText(deny),
    inside: allows.map(toRuleText),
    layers: findLayers(deny, input),
  }));
}

export function checkPolicy(input: CheckInput): PolicyCheck {
  const { policy, plan } = input;
  const fs = policy.fs.filter(isOwn);
  const count = (effect: FsRule['effect']): number =>
    fs.filter((rule) => rule.effect === effect).length;
  return {
    schema: 'assay.policy-check.v1',
    isOk: true,
    file: input.file,
    counts: {
      allow: count('allow'),
      deny: count('deny'),
      protect: count('protect'),
      netAllow: policy.net.filter(({ effect }) => effect === 'allow').length,
      netDeny: policy.net.filter(({ effect }) => effect === 'deny').length,
      unix: policy.unix.length,
      limits: Object.values(policy.limits).filter((value) => value !== undefined).length,
    },
    examples: input.examples,
    conflicts: listConflicts(input),
    degradations: plan.degradations,
    notes: [...plan.notes, ...listSets(policy)],
  };
}

/** What only this host can tell should not stay in the dark. */
function listSets({ net }: Policy): string[] {
  return net.flatMap(({ entries, origin }) =>
    entries ? [`${origin.key}: ${origin.text} stands for ${entries.join(', ')} here`] : [],
  );
}

/** The baseline is many rules with one meaning to a user. */
function formatInside(rules: readonly RuleText[]): string {
  const own = rules.filter(({ source }) => source !== 'system baseline').map(formatRule);
  if (own.length < rules.length) own.push('the system baseline');
  return own.join(', ');
}

function formatConflict({ deny, inside, layers }: CheckedConflict): string[] {
  const by = layers.length > 0 ? `enforced by ${layers.join(' and ')}` : 'NOT enforced here';
  return [`  ${formatRule(deny)}: ${by}`, `    inside ${formatInside(inside)}`];
}

export function formatPolicyCheck({
  file,
  counts,
  examples,
  conflicts,
  degradations,
  notes,
}: PolicyCheck): string {
  const lines = [
    `ok: ${file}`,
    `  files: ${counts.allow} allow, ${counts.deny} deny, ${counts.protect} protect; network: ${counts.netAllow} allow, ${counts.netDeny} deny; ` +
      `sockets: ${counts.unix}; limits: ${counts.limits}`,
    `  examples: ${examples === 0 ? 'none' : `${examples}, all hold`}`,
  ];
  if (conflicts.length > 0)
    lines.push('Refused inside something allowed:', ...conflicts.flatMap(formatConflict));
  lines.push(
    ...degradations.map(({ rule, reason }) => `WARN: ${rule} is not enforced here: ${reason}`),
  );
  lines.push(...notes.map((note) => `NOTE: ${note}`));
  return `${lines.join('\n')}\n`;
}
