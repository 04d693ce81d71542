import { type PolicyDocument, toProblem } from './document.ts';
import { toNetRules } from './net-entries.ts';
import { parseNetTarget } from './net-target.ts';
import type { NetRule } from './policy.ts';
import { PolicyError } from './problems.ts';

/** `--allow-net`; throws a PolicyError with every value that is none. */
export function toQuickNetRules(entries: readonly string[]): NetRule[] {
  const name = '--allow-net';
  const document: PolicyDocument = { name, data: { net: { allow: entries } } };
  const problems = entries.flatMap((text, index) => {
    const target = parseNetTarget(text);
    return 'problem' in target ? [toProblem(document, `net.allow.${index}`, target)] : [];
  });
  if (problems.length > 0) throw new PolicyError(problems);
  return toNetRules(document);
}
