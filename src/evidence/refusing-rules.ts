import { redactPath } from '../core/redact.ts';
import { REDACTED_PART } from '../core/redaction-mark.ts';
import { isCatchAll, parseNetTarget } from '../policy/net-target.ts';
import type { FsRule, Origin, Policy } from '../policy/policy.ts';

/** What the policy of a run refuses whatever allows it, as entries of a policy. */
export interface RefusingRules {
  readonly deny: readonly string[];
  readonly protect: readonly string[];
  readonly net_deny: readonly string[];
}

export interface RefusingRulesInput {
  readonly policy: RulesOfRun;
  /** The short form of a path, with `${CWD}` or `${HOME}` in front where they apply. */
  readonly show: (path: string) => string;
}

export type RulesOfRun = Pick<Policy, 'fs'> & Partial<Pick<Policy, 'net'>>;

/** As they were written, so that they mean the same elsewhere. Every run makes those of the host for itself. */
export function listRefusingRules({ policy, show }: RefusingRulesInput): RefusingRules {
  const list = (effect: FsRule['effect']): string[] =>
    sortUnique(
      policy.fs
        .filter((rule) => rule.effect === effect && !rule.origin.isOfHost)
        .map(({ origin }) => hideSecrets(isFlag(origin) ? show(origin.text) : origin.text)),
    );
  return {
    deny: list('deny'),
    protect: list('protect'),
    net_deny: sortUnique(
      (policy.net ?? []).filter(isSpecific).map(({ text }) => hideSecrets(text)),
    ),
  };
}

/** A deny of everything states the default. */
function isSpecific({ effect, text }: NonNullable<RulesOfRun['net']>[number]): boolean {
  const target = parseNetTarget(text);
  return effect === 'deny' && !('problem' in target) && !isCatchAll(target);
}

/** A shell has put the real place where another run has another one. */
function isFlag({ source, at }: Origin): boolean {
  return at === undefined && source.startsWith('--');
}

/** What is refused too much is safe. */
function hideSecrets(entry: string): string {
  const shown = redactPath(entry);
  if (shown === entry) return entry;
  return shown.replaceAll(new RegExp(REDACTED_PART, 'g'), '*').replaceAll(/\*{2,}/g, '*');
}

function sortUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
