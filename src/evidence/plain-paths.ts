import type { Change, ChangeKind, FinalStates, PathVerdict } from './path-verdict.ts';
import type { FinalState } from './run-record.ts';

const WAS_THERE = 1;
const IS_THERE = 2;
/** Gone in between, or made anew: not what it was. */
const IS_NEW = 4;
const IS_WRITTEN = 8;
const HAS_NEW_ATTRIBUTES = 16;
const WAS_DIRECTORY = 32;
const IS_DIRECTORY = 64;

const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
const REMOVING: ReadonlySet<string> = new Set(['unlink', 'rmdir']);

/** Paths that nothing was moved to, from or along with: all but a few, each a number. */
export class PlainPaths {
  readonly #marks = new Map<string, number>();

  add({ op, path, isDirectory = false }: Change): void {
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
    this.#marks.set(path, marks);
  }

  /** Where the run has set times, of whatever name, those of a file that was touched do not tell. */
  *verdicts(finalStates: FinalStates, hasSetTimes: boolean): Generator<PathVerdict> {
    for (const [path, marks] of this.#marks) {
      const state = finalStates.get(path);
      const wasThere = (marks & WAS_THERE) !== 0;
      const isThere = state === undefined ? (marks & IS_THERE) !== 0 : state !== 'absent';
      const wasDirectory = (marks & WAS_DIRECTORY) !== 0;
      const isDirectory =
        state === undefined ? (marks & IS_DIRECTORY) !== 0 : state === 'directory';
      const isPlace = wasDirectory && isDirectory;
      const isAsBefore = state === 'same' || (state === 'touched' && !hasSetTimes);
      const kind = judge({ marks, isAsBefore, wasThere, isThere, isPlace });
      if (!kind) continue;
      yield {
        path,
        kind,
        isDirectory: kind === 'removed' ? wasDirectory : isDirectory,
        isUnverified: kind === 'modified' && isUntold(state) && (marks & IS_NEW) === 0,
      };
    }
  }
}

interface Case {
  readonly marks: number;
  readonly isAsBefore: boolean;
  readonly wasThere: boolean;
  readonly isThere: boolean;
  /** A directory, then as now. */
  readonly isPlace: boolean;
}

function isUntold(state: FinalState | undefined): boolean {
  return state === undefined || state === 'touched' || state === 'alike';
}

function judge({ marks, isAsBefore, wasThere, isThere, isPlace }: Case): ChangeKind | undefined {
  if (wasThere !== isThere) return isThere ? 'created' : 'removed';
  if (!isThere) return undefined;
  const isReplaced = (marks & IS_NEW) !== 0 && !isPlace;
  if (isReplaced || ((marks & IS_WRITTEN) !== 0 && !isAsBefore)) return 'modified';
  return marks & HAS_NEW_ATTRIBUTES ? 'attributes' : undefined;
}
