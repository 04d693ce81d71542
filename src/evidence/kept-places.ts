import { isLiteral, matchPattern, unescapeLiteral } from '../policy/glob.ts';
import type { FsRule, Variables } from '../policy/policy.ts';

export interface KeptPlace {
  readonly right: 'read' | 'exec';
  readonly path: string;
}

/**
 * Where a policy lets a run read or execute, as far as a suggestion can say it: without wildcards, and without what every
 * run gets. What it denies there, the suggestion denies as well. Libraries are mapped to be executed, which is a kind of
 * reading, so the right to execute is kept with the right to read.
 */
export function findKept(rules: readonly FsRule[], { cwd }: Pick<Variables, 'cwd'>): KeptPlace[] {
  return rules
    .filter(({ effect, isSystem, origin }) => effect === 'allow' && !isSystem && !origin.isOfHost)
    .flatMap((rule): KeptPlace[] => {
      const right = rule.rights.includes('exec') ? 'exec' : 'read';
      return [
        ...(matchPattern(rule.pattern, cwd) ? [{ right: 'read', path: cwd } as const] : []),
        ...(isLiteral(rule.pattern)
          ? [{ right, path: unescapeLiteral(rule.pattern) } as const]
          : []),
      ];
    });
}
