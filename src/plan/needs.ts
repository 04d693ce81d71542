import { type Conflict, findConflicts } from '../policy/conflicts.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import { canonicalPattern } from './broker.ts';
import type { FileTree } from './file-tree.ts';
import type { Grant } from './grants.ts';
import type { ActiveLayers } from './layers.ts';
import type { Recording } from './plan.ts';
import type { BrokeredCalls } from './seccomp/filter-request.ts';

/** What the broker is needed for under this policy, beyond what it always does. */
export interface Needs {
  readonly conflicts: readonly Conflict[];
  readonly opens: BrokeredCalls['opens'];
  readonly isAllowListKept: boolean;
  readonly isReadJudged: boolean;
}

export interface NeedsInput {
  readonly policy: Policy;
  readonly tree: FileTree;
  readonly grants: readonly Grant[];
  readonly active: ActiveLayers;
  readonly recording: Recording;
}

export function findNeeds({ policy, tree, grants, active, recording }: NeedsInput): Needs {
  const conflicts = findConflicts({ fs: addRealPlaces(policy.fs, tree) });
  const deniesReading = conflicts.some(({ deny }) => deny.rights.includes('read'));
  const isAllowListKept = active.landlockAbi === 0 || grants.some(({ isGlob }) => isGlob);
  const isReadJudged = deniesReading || isAllowListKept;
  const opens =
    isReadJudged || recording === 'all' ? 'all' : policy.isDefault ? 'probe' : 'effects';
  return { conflicts, opens, isAllowListKept, isReadJudged };
}

/** With what each rule is about once links are followed: one rule may name by a link what another names by its own name. */
function addRealPlaces(rules: readonly FsRule[], tree: FileTree): FsRule[] {
  return rules.flatMap((rule) => {
    if (rule.isSystem || rule.effect === 'config') return rule;
    const pattern = canonicalPattern(rule.pattern, tree);
    return pattern === rule.pattern ? rule : [rule, { ...rule, pattern }];
  });
}
