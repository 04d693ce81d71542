import { type Conflict, findConflicts } from '../policy/conflicts.ts';
import type { Policy } from '../policy/policy.ts';
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
  readonly grants: readonly Grant[];
  readonly active: ActiveLayers;
  readonly recording: Recording;
}

export function findNeeds({ policy, grants, active, recording }: NeedsInput): Needs {
  const conflicts = findConflicts(policy);
  const deniesReading = conflicts.some(({ deny }) => deny.rights.includes('read'));
  const isAllowListKept = active.landlockAbi === 0 || grants.some(({ isGlob }) => isGlob);
  const isReadJudged = deniesReading || isAllowListKept;
  const opens =
    isReadJudged || recording === 'all' ? 'all' : policy.isDefault ? 'probe' : 'effects';
  return { conflicts, opens, isAllowListKept, isReadJudged };
}
