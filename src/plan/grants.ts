import { isLiteral, literalPrefix, unescapeLiteral } from '../policy/glob.ts';
import type { FsRight, FsRule } from '../policy/policy.ts';
import { type FileTree, isAtOrBelow } from './file-tree.ts';

export const READ = 1;
export const WRITE = 2;
export const EXEC = 4;
export const CONNECT = 8;

const RIGHT_BITS: Readonly<Record<FsRight, number>> = { read: READ, write: WRITE, exec: EXEC };

/** A place in the tree and what may be done below it. */
export interface Grant {
  /** With links resolved. */
  readonly path: string;
  /** As the policy spells it, which may lead through links. */
  readonly written: string;
  readonly rights: number;
  readonly rule: FsRule;
  /** The rule has a wildcard: the kernel gets the directory above it, the broker keeps to the rule. */
  readonly isGlob: boolean;
}

export interface GrantList {
  readonly grants: readonly Grant[];
  /** Rules that name nothing that exists. */
  readonly absent: readonly FsRule[];
  /** Rules that a link inside a writable place leads out of it: the program of an earlier run may have put it there. */
  readonly astray: readonly FsRule[];
}

export function rightBits(rights: readonly FsRight[]): number {
  return rights.reduce((bits, right) => bits | RIGHT_BITS[right], 0);
}

/** System places with the same rights. They are visible as they are and opened by the helper, so none is looked up. */
export interface SystemGroup {
  readonly rights: number;
  readonly paths: string[];
  readonly rules: FsRule[];
}

export function groupSystemRules(rules: readonly FsRule[]): SystemGroup[] {
  const groups: SystemGroup[] = [];
  let last: readonly FsRight[] | undefined;
  for (const rule of rules) {
    if (!rule.isSystem) continue;
    if (rule.rights !== last) groups.push({ rights: rightBits(rule.rights), paths: [], rules: [] });
    last = rule.rights;
    groups.at(-1)?.paths.push(rule.pattern);
    groups.at(-1)?.rules.push(rule);
  }
  return groups;
}

/** Everything that is granted besides the system's own places. */
export function collectGrants(rules: readonly FsRule[], tree: FileTree): GrantList {
  const grants: Grant[] = [];
  const absent: FsRule[] = [];
  for (const rule of rules) {
    if (rule.effect !== 'allow' || rule.isSystem) continue;
    const isGlob = !isLiteral(rule.pattern);
    const written = isGlob ? literalPrefix(rule.pattern) : unescapeLiteral(rule.pattern);
    const path = tree.realpath(written);
    if (path === null) absent.push(rule);
    else grants.push({ path, written, rights: rightBits(rule.rights), rule, isGlob });
  }
  const isAstray = (grant: Grant): boolean =>
    grant.path !== grant.written &&
    grants.some(
      (other) =>
        other.rule !== grant.rule &&
        other.rights & WRITE &&
        (isAtOrBelow(grant.written, other.path) || isAtOrBelow(grant.written, other.written)) &&
        !isAtOrBelow(grant.path, other.path),
    );
  const astray = grants.filter(isAstray).map(({ rule }) => rule);
  return { grants: grants.filter((grant) => !isAstray(grant)), absent, astray };
}
