import { isNameless } from './normalise/special-paths.ts';
import { splitPath } from './normalise/split-path.ts';
import type { Change, FinalStates } from './path-verdict.ts';

/** These do not tell by themselves whether anything has, or had, the name. */
const USING: ReadonlySet<string> = new Set([
  'write',
  'truncate',
  'chmod',
  'chown',
  'utimes',
  'xattr',
]);

/**
 * What is reached through a descriptor may have no name, or not that one any more; then the kernel puts a mark behind
 * the last that it had. Where it has got another one, that is a change of its own.
 */
export function leaveNamelessOut(
  changes: readonly Change[],
  finalStates: FinalStates,
): readonly Change[] {
  const named = new Set<string>();
  for (const { op, path, target } of changes) {
    if (USING.has(op)) continue;
    for (const name of [path, target ?? '']) if (isMarked(name)) named.add(name);
  }
  const isNobodys = ({ op, path }: Change): boolean =>
    USING.has(op) && isMarked(path) && !named.has(path) && finalStates.get(path) === 'absent';
  return changes.filter((change) => !isMadeNameless(change) && !isNobodys(change));
}

const isMarked = (path: string): boolean => path.endsWith(' (deleted)');

/** Told as one that is written; what it is called there can be the name of a file too, which is told with its state. */
function isMadeNameless({ op, path, before }: Change): boolean {
  return op === 'write' && !before && isNameless(splitPath(path).name);
}
