import type { FsRule, NetRule } from '../../policy/policy.ts';

/** A rule as the user knows it: what it says, and where it stands. */
export interface RuleText {
  readonly effect: FsRule['effect'];
  /** `fs.deny` */
  readonly key: string;
  readonly text: string;
  /** `policy.yaml:6:5`, `preset coding-agent`, `--deny`, `system baseline`, … */
  readonly source: string;
}

export function toRuleText({ effect, origin }: FsRule | NetRule): RuleText {
  return { effect, key: origin.key, text: origin.text, source: origin.source };
}

export function formatRule({ key, text, source }: Omit<RuleText, 'effect'>): string {
  return `${key}: ${text} (${source})`;
}
