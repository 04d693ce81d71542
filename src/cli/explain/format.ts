import type { Enforcement } from './enforcement.ts';
import type { HostExplanation } from './host.ts';
import type { OpExplanation, PathExplanation } from './path.ts';
import { formatRule, type RuleText } from './rule-text.ts';

const VERDICTS = { allow: 'allowed', deny: 'refused' } as const;

function formatLayers(layers: readonly Enforcement[], isEnforced: boolean): string {
  if (!isEnforced) return 'NOTHING enforces this here (assay doctor says what is missing)';
  if (layers.length === 0) return 'no layer stands in the way';
  return layers.map(({ layer, how }) => `${layer} (${how})`).join(', ');
}

function formatDecision(
  rule: RuleText | null,
  outcome: 'allow' | 'deny',
  reason: string | null = null,
): string {
  if (rule) return `by ${formatRule(rule)}`;
  if (reason !== null) return `since ${reason}`;
  return outcome === 'allow' ? 'as part of the private tmp' : 'since no rule allows it';
}

function formatAdvice({ outcome, allowWith, rule }: OpExplanation): string[] {
  if (outcome === 'allow') return [];
  if (allowWith === null)
    return rule
      ? [`to allow: remove or narrow ${rule.key}: ${rule.text}; it beats every allow`]
      : [];
  const ways = [allowWith.flag, allowWith.policyLine].filter((way) => way !== null);
  return ways.length > 0 ? [`to allow: ${ways.join('  or  ')}`] : [];
}

function formatOp(explanation: OpExplanation): string[] {
  const { op, outcome, rule, layers, isEnforced } = explanation;
  const details = [`here: ${formatLayers(layers, isEnforced)}`, ...formatAdvice(explanation)];
  return [
    `${op.padEnd(7)} ${VERDICTS[outcome]} ${formatDecision(rule, outcome)}`,
    ...details.map((line) => `        ${line}`),
  ];
}

export function formatPathExplanation(explanation: PathExplanation): string {
  const { asked, path, exists, policy, ops, notes } = explanation;
  const lines = [
    `${path}${path === asked ? '' : ` (asked: ${asked})`}${exists ? '' : ', which does not exist yet'}`,
    `Policy: ${policy}`,
    ...ops.flatMap(formatOp),
    ...notes.map((note) => `NOTE: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
}

export function formatHostExplanation(explanation: HostExplanation): string {
  const { asked, policy, outcome, rule, reason, isReachable, layers, isEnforced, notes } =
    explanation;
  const { allowWith } = explanation;
  const lines = [
    asked,
    `Policy: ${policy}`,
    `connect ${VERDICTS[outcome]} ${formatDecision(rule, outcome, reason)}; ${isReachable ? 'reachable' : 'not reachable'} here`,
    `        here: ${formatLayers(layers, isEnforced)}`,
  ];
  if (allowWith) lines.push(`        to allow: ${allowWith.flag}  or  ${allowWith.policyLine}`);
  lines.push(...notes.map((note) => `NOTE: ${note}`));
  return `${lines.join('\n')}\n`;
}
