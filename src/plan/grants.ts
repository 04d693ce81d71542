import { isLiteral, literalPrefix, unescapeLiteral } from '../policy/glob.ts';
import type { FsRight, FsRule } from '../policy/policy.ts';
import type { FileTree } from './file-tree.ts';

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
  /** A system directory, visible as it is. */
  readonly isSystem: boolean;
  /** The rule has a wildcard: the kernel gets the directory above it, the broker keeps to the rule. */
  readonly isGlob: boolean;
}

export interface GrantList {
  readonly grants: readonly Grant[];
  /** Rules that name nothing that exists. */
  readonly absent: readonly FsRule[];
}

export function rightBits(rights: readonly FsRight[]): number {
  return rights.reduce((bits, right) => bits | RIGHT_BITS[right], 0);
}

const SYSTEM_PATH = /^\/(usr|bin|sbin|lib\w*|etc|dev|proc|sys|opt|var)(\/|$)/;

/** System directories are visible as they are and opened by the helper, so they are not looked up one by one. */
export function isSystemRule(rule: FsRule): boolean {
  return rule.origin.source === 'system baseline' && SYSTEM_PATH.test(rule.pattern);
}

export function collectGrants(rules: readonly FsRule[], tree: FileTree): GrantList {
  const grants: Grant[] = [];
  const absent: FsRule[] = [];
  for (const rule of rules) {
    if (rule.effect !== 'allow') continue;
    const isGlob = !isLiteral(rule.pattern);
    const written = isGlob ? literalPrefix(rule.pattern) : unescapeLiteral(rule.pattern);
    const isSystem = isSystemRule(rule);
    const path = isSystem ? written : tree.realpath(written);
    if (path === null) absent.push(rule);
    else grants.push({ path, written, rights: rightBits(rule.rights), rule, isGlob, isSystem });
  }
  return { grants, absent };
}
