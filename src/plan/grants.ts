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
  /** The rule has a wildcard, or names what is yet to be made: the kernel gets the directory above it, the broker keeps to the rule. */
  readonly isGlob: boolean;
}

export interface GrantList {
  readonly grants: readonly Grant[];
  /** Rules that name nothing that exists. */
  readonly absent: readonly FsRule[];
  /** Of the grants, those for what does not exist yet but can be made. */
  readonly awaited: readonly Grant[];
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

/** Whether a person has asked for this rule, rather than a preset that names what many machines have. */
export function isAskedFor({ origin }: FsRule): boolean {
  return origin.at !== undefined || origin.source.startsWith('--');
}

/** Places whose directory is not given as it is, whatever is granted in it. */
const NOT_SHARED = /^(?:\/|\/tmp|\/var\/tmp|\/(?:dev|proc|sys)(?:\/.*)?)$/;

/** The directory in which what a rule names can be made; undefined when it cannot, or is made in a writable place anyway. */
function findAwaited(rule: FsRule, grants: readonly Grant[], tree: FileTree): Grant | undefined {
  if (!isLiteral(rule.pattern) || !rule.rights.includes('write') || !isAskedFor(rule))
    return undefined;
  const name = unescapeLiteral(rule.pattern);
  const written = name.slice(0, name.lastIndexOf('/')) || '/';
  const path = tree.realpath(written);
  if (path === null || NOT_SHARED.test(path) || !tree.isDirectory(path)) return undefined;
  const isWritable = grants.some(
    (grant) => !grant.isGlob && grant.rights & WRITE && isAtOrBelow(path, grant.path),
  );
  if (isWritable) return undefined;
  return { path, written, rights: rightBits(rule.rights), rule, isGlob: true };
}

/** Everything that is granted besides the system's own places. What is yet to be made needs the broker. */
export function collectGrants(
  rules: readonly FsRule[],
  tree: FileTree,
  hasBroker: boolean,
): GrantList {
  const given: Grant[] = [];
  const missing: FsRule[] = [];
  for (const rule of rules) {
    if (rule.effect !== 'allow' || rule.isSystem) continue;
    const isGlob = !isLiteral(rule.pattern);
    const written = isGlob ? literalPrefix(rule.pattern) : unescapeLiteral(rule.pattern);
    const path = tree.realpath(written);
    if (path === null) missing.push(rule);
    else given.push({ path, written, rights: rightBits(rule.rights), rule, isGlob });
  }
  const awaited = hasBroker ? missing.flatMap((rule) => findAwaited(rule, given, tree) ?? []) : [];
  const grants = [...given, ...awaited];
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
  return {
    grants: grants.filter((grant) => !isAstray(grant)),
    absent: missing.filter((rule) => !awaited.some((grant) => grant.rule === rule)),
    awaited: awaited.filter((grant) => !isAstray(grant)),
    astray,
  };
}
