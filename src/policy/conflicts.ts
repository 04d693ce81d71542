import { isLiteral } from './glob.ts';
import { canOverlap } from './overlap.ts';
import type { FsRule, Policy } from './policy.ts';

/** A place where a rule refuses what another one grants. Deny wins; some layer has to see to it. */
export interface Conflict {
  /** Its effect is deny or protect. */
  readonly deny: FsRule;
  readonly allow: FsRule;
}

/** Every pair of rules that both cover some path with some right in common. The system baseline counts too. */
export function findConflicts(policy: Pick<Policy, 'fs'>): Conflict[] {
  const allows: Candidate[] = [];
  const denies: Candidate[] = [];
  for (const rule of policy.fs) {
    if (rule.effect === 'allow') allows.push(toCandidate(rule));
    else if (rule.effect !== 'config') denies.push(toCandidate(rule));
  }
  const conflicts: Conflict[] = [];
  const plain = allows.filter(({ isPlain }) => isPlain);
  const wild = allows.filter(({ isPlain }) => !isPlain);
  const text = `\n${plain.map(({ rule }) => rule.pattern).join('\n')}\n`;
  for (const deny of denies) {
    const near = deny.isPlain && !isNested(deny.rule.pattern, text) ? wild : allows;
    for (const allow of near.filter((one) => doConflict(deny, one)))
      conflicts.push({ deny: deny.rule, allow: allow.rule });
  }
  return conflicts;
}

/**
 * Whether a path lies below one of those in `text`, or one of those at or below it. Every start asks this of every rule,
 * and few meet: a search through one text is quicker than a comparison with each path.
 */
function isNested(path: string, text: string): boolean {
  if (path === '/' || text.includes('\n/\n') || text.includes(`\n${path}/`)) return true;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (text.includes(`\n${path.slice(0, end)}\n`)) return true;
  return false;
}

interface Candidate {
  readonly rule: FsRule;
  /** Without a wildcard. Nearly all are, and every start compares every pair. */
  readonly isPlain: boolean;
}

function toCandidate(rule: FsRule): Candidate {
  return { rule, isPlain: isLiteral(rule.pattern) };
}

function doConflict(deny: Candidate, allow: Candidate): boolean {
  return (
    canMeet(deny, allow) && deny.rule.rights.some((right) => allow.rule.rights.includes(right))
  );
}

function canMeet(deny: Candidate, allow: Candidate): boolean {
  const first = deny.rule.pattern;
  const second = allow.rule.pattern;
  if (allow.isPlain) {
    if (deny.isPlain) return areNested(first, second);
    // A name at any depth can turn up below any directory.
    if (first.startsWith('/**/')) return true;
  }
  return canOverlap(first, second);
}

function areNested(first: string, second: string): boolean {
  return first.length < second.length ? isBelow(second, first) : isBelow(first, second);
}

function isBelow(path: string, dir: string): boolean {
  return (
    path.startsWith(dir) && (path.length === dir.length || path[dir.length] === '/' || dir === '/')
  );
}
