import { isLiteral, literalPrefix, matchPattern } from './glob.ts';
import { canOverlap } from './overlap.ts';
import type { FsRule, Policy } from './policy.ts';

/** A place where a rule refuses what another one grants. Deny wins; some layer has to see to it. */
export interface Conflict {
  /** Its effect is deny or protect. */
  readonly deny: FsRule;
  readonly allow: FsRule;
  /** One of the two has a wildcard: what the rule refuses is not one place, and may not exist yet. */
  readonly isGlob: boolean;
  /** The refusing rule covers all that the other one grants, which then grants nothing of these rights. */
  readonly isTotal: boolean;
}

/** Every pair of rules that both cover some path with some right in common. The system baseline counts too. */
export function findConflicts(policy: Pick<Policy, 'fs'>): Conflict[] {
  const allows = policy.fs.filter((rule) => rule.effect === 'allow');
  const denies = policy.fs.filter((rule) => rule.effect === 'deny' || rule.effect === 'protect');
  return denies.flatMap((deny) =>
    allows
      .filter((allow) => doConflict(deny, allow))
      .map((allow) => ({
        deny,
        allow,
        isGlob: !isLiteral(deny.pattern) || !isLiteral(allow.pattern),
        isTotal: matchPattern(deny.pattern, literalPrefix(allow.pattern)),
      })),
  );
}

function doConflict(deny: FsRule, allow: FsRule): boolean {
  return (
    deny.rights.some((right) => allow.rights.includes(right)) &&
    (areLiteral(deny, allow) ? areNested(deny.pattern, allow.pattern) : canOverlap(deny.pattern, allow.pattern))
  );
}

/** Nearly all pairs are plain paths, and every start compares them all. */
function areLiteral(deny: FsRule, allow: FsRule): boolean {
  return isLiteral(deny.pattern) && isLiteral(allow.pattern);
}

function areNested(first: string, second: string): boolean {
  const [short, long] = first.length < second.length ? [first, second] : [second, first];
  return long.startsWith(short) && (long.length === short.length || long[short.length] === '/' || short === '/');
}
