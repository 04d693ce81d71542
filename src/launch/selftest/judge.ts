import { decide } from '../../policy/decide.ts';
import { matchPattern, unescapeLiteral } from '../../policy/glob.ts';
import { isCatchAll, parseNetTarget } from '../../policy/net-target.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import type { Target } from './attack.ts';
import { SECRET_VARIABLE } from './process-attacks.ts';

/** The policy of a run in one workspace, with links in its rules resolved. */
export interface StagePolicy {
  readonly policy: Policy;
  readonly variables: Variables;
}

/** Does the policy itself let this happen? Then it is no failure of the sandbox. */
export function isAllowed(target: Target, { policy, variables }: StagePolicy): boolean {
  switch (target.kind) {
    case 'file':
      return decide(policy, { ...target, tmpdir: variables.tmpdir }).outcome === 'allow';
    case 'git config':
      return policy.fs.some(
        ({ effect, rights, pattern }) =>
          effect === 'allow' &&
          rights.includes('write') &&
          unescapeLiteral(pattern) === target.path,
      );
    case 'socket':
      return policy.unix.some(({ pattern }) => matchPattern(pattern, target.path));
    case 'network':
      // Allowing loopback means the run's own one; only the whole network is that of the host.
      return policy.net.some(({ effect, text }) => {
        const parsed = parseNetTarget(text);
        return effect === 'allow' && !('problem' in parsed) && isCatchAll(parsed);
      });
    case 'environment':
      return policy.env.mode === 'passthrough' || policy.env.allow.includes(SECRET_VARIABLE);
  }
}
