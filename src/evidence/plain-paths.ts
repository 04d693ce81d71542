import { isNameless } from './normalise/special-paths.ts';
import { splitPath } from './normalise/split-path.ts';
import type { Change, ChangeKind, FinalStates, PathVerdict } from './path-verdict.ts';

const WAS_THERE = 1;
const IS_THERE = 2;
/** Gone in between, or made anew: not what it was. */
const IS_NEW = 4;
const IS_WRITTEN = 8;
const HAS_NEW_ATTRIBUTES = 16;
const WAS_DIRECTORY = 32;
const IS_DIRECTORY = 64;
/** Its state was taken when it was first opened for writing. */
const IS_COMPARED = 128;

const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
const REMOVING: ReadonlySet<string> = new Set(['unlink', 'rmdir']);

/** Paths that nothing was moved to, from or along with: all but a few, each a number. */
export class PlainPaths {
  readonly #marks = new Map<string, number>();

  add({ op, path, before, isDirectory = false }: Change): void {
    const known = this.#marks.get(path);
    const isPlace = isDirectory || op === 'mkdir' || op === 'rmdir';
    const isMaking = MAKING.has(op);
    // The first event tells whether it was there before the run.
    let marks = known ?? (isMaking ? 0 : WAS_THERE | IS_THERE | (isPlace ? WAS_DIRECTORY : 0));
    if (isMaking) {
      marks = (marks & ~IS_DIRECTORY) | IS_THERE | IS_NEW | (isPlace ? IS_DIRECTORY : 0);
      marks &= ~(IS_WRITTEN | HAS_NEW_ATTRIBUTES);
    } else if (REMOVING.has(op)) marks = (marks & ~IS_THERE) | IS_NEW;
    else if (op === 'write' || op === 'truncate') marks |= IS_WRITTEN;
    else marks |= HAS_NEW_ATTRIBUTES | (isPlace ? IS_DIRECTORY : 0);
    if (before) marks |= IS_COMPARED;
    this.#marks.set(path, marks);
  }

  *verdicts(finalStates: FinalStates): Generator<PathVerdict> {
    for (const [path, marks] of this.#marks) {
      const state = finalStates.get(path);
      const wasThere = (marks & WAS_THERE) !== 0;
      const isThere = state === undefined ? (marks & IS_THERE) !== 0 : state !== 'absent';
      if (!isThere && (marks & IS_NEW) === 0 && hadNoName(path)) continue;
      const kind = judge({ marks, state, wasThere, isThere });
      if (!kind) continue;
      const isDirectory = (marks & (kind === 'removed' ? WAS_DIRECTORY : IS_DIRECTORY)) !== 0;
      const isChecked = state === 'changed' || (marks & IS_NEW) !== 0;
      yield { path, kind, isDirectory, isUnverified: kind === 'modified' && !isChecked };
    }
  }
}

/** It was not under this name before the run either; where it got another one, that is a change of its own. */
function hadNoName(path: string): boolean {
  return isNameless(splitPath(path).name);
}

interface Case {
  readonly marks: number;
  readonly state: string | undefined;
  readonly wasThere: boolean;
  readonly isThere: boolean;
}

function judge({ marks, state, wasThere, isThere }: Case): ChangeKind | undefined {
  if (wasThere !== isThere) return isThere ? 'created' : 'removed';
  if (!isThere) return undefined;
  const isPlace = (marks & WAS_DIRECTORY) !== 0 && (marks & IS_DIRECTORY) !== 0;
  const isSame = state === 'same';
  // It came back in a way that was reported before, as it was.
  const isBack = isSame && (marks & IS_THERE) === 0;
  const isReplaced = (marks & IS_NEW) !== 0 && !isPlace && !isBack;
  const isWritten =
    (marks & IS_WRITTEN) !== 0 && !(isSame && (marks & IS_COMPARED) !== 0) && !isBack;
  if (isReplaced || isWritten) return 'modified';
  return marks & HAS_NEW_ATTRIBUTES ? 'attributes' : undefined;
}
