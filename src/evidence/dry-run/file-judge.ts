import type { Event, ExecEvent, FileEvent } from '../../observe/event.ts';
import { isAtOrBelow } from '../../plan/file-tree.ts';
import { EXEC, READ, WRITE } from '../../plan/grants.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { RuleBook } from './broker-rules.ts';
import { GitGuard } from './git-guard.ts';

/** Of a rule, its number; else what refuses instead of one. */
export type Refuser = number | 'git-guard' | 'set-user-id' | 'nothing-allows';

export interface FileRefusal {
  /** Of two paths, the one that is refused. */
  readonly path: string;
  readonly by: Refuser;
  readonly layer: 'broker' | 'kernel' | 'git-guard';
}

export interface FileJudgeInput {
  /** The plan of the same run with its boundary. */
  readonly boundary: Plan;
  readonly events: readonly Event[];
  /** After the run. */
  readonly isThere: (path: string) => boolean;
  readonly isLink: (path: string) => boolean;
}

/** What the kernel answers to what a boundary does not grant; where nothing is in the way, it works. */
const KERNEL_OUTCOMES: ReadonlySet<string> = new Set(['ok', 'EACCES', 'EPERM', 'EROFS']);
/** Of a call that fails before anything is judged. */
const EARLY_ENDS: Readonly<Record<string, readonly string[]>> = {
  mkdir: ['EEXIST'],
  mknod: ['EEXIST'],
  symlink: ['EEXIST'],
  rename: ['ENOENT', 'EEXIST', 'EBUSY'],
  link: ['ENOENT', 'EEXIST'],
  chmod: ['ENOENT'],
  chown: ['ENOENT'],
  utimes: ['ENOENT'],
  xattr: ['ENOENT'],
};
const REMOVING: ReadonlySet<string> = new Set(['unlink', 'rmdir']);
const ATTRIBUTES: ReadonlySet<string> = new Set(['chmod', 'chown', 'utimes', 'xattr']);
const SET_ID = 0o6000;

/** A file that has no name stands for its directory, which has to be writable. */
const NAMELESS = /\/#0 \(deleted\)$/;
/** A descriptor that the program has already. */
const OWN_DESCRIPTOR =
  /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/(?:self|thread-self|\d+(?:\/task\/\d+)?)\/fd\/\d+)$/;

/** Judges file events one after another as the layers of a bounded run do: see native/open.c and native/change.c. */
export class FileJudge {
  readonly rules: RuleBook;
  readonly #launch: Plan['launch'];
  readonly #guard: GitGuard;
  readonly #isLink: FileJudgeInput['isLink'];

  constructor({ boundary, events, isThere, isLink }: FileJudgeInput) {
    const { launch } = boundary;
    this.#launch = launch;
    this.#isLink = isLink;
    this.rules = new RuleBook(launch);
    const isPrivate = (path: string): boolean => this.rules.isPrivate(path);
    this.#guard = new GitGuard({ launch, events, isPrivate, isThere });
  }

  judge(event: FileEvent): FileRefusal | undefined {
    const refusal = this.#find(event);
    this.#guard.note(event, refusal !== undefined);
    return refusal;
  }

  judgeExec({ path, outcome }: Pick<ExecEvent, 'path' | 'outcome'>): FileRefusal | undefined {
    if (outcome === 'ENOENT' || outcome === 'ENOTDIR') return undefined;
    const by = this.rules.findRefusal(path, EXEC);
    if (by) return { path, by, layer: 'broker' };
    const isRefused = outcome === 'ok' && !this.rules.isCovered(path, EXEC);
    return isRefused ? { path, by: 'nothing-allows', layer: 'kernel' } : undefined;
  }

  /** Of a place to be written. */
  judgeWrite(path: string, outcome: string): FileRefusal | undefined {
    return this.#judgePlace(path, false) ?? this.#judgeByKernel(path, outcome);
  }

  #find(event: FileEvent): FileRefusal | undefined {
    const { op, outcome, move } = event;
    if (move === 'back' || EARLY_ENDS[op]?.includes(outcome)) return undefined;
    if (op === 'read') return this.#judgeRead(event);
    if (op === 'rename' || op === 'link') return this.#judgePair(event);
    if (ATTRIBUTES.has(op)) return this.#judgeAttributes(event);
    return this.#judgeChange(event);
  }

  /** Where the kernel keeps what is granted, a name that is not there is looked up without asking for a rule. */
  #judgeRead({ path, outcome, requested, isDirectory }: FileEvent): FileRefusal | undefined {
    const { isReadJudged = false, isAllowListKept = false } = this.#launch.flags;
    const by = outcome === 'ENOENT' && !isReadJudged ? 0 : this.rules.findRefusal(path, READ);
    if (by) return { path, by, layer: 'broker' };
    if (!isAllowListKept && !KERNEL_OUTCOMES.has(outcome)) return undefined;
    if (OWN_DESCRIPTOR.test(requested ?? '') || this.rules.isCovered(path, READ)) return undefined;
    if (isDirectory === true && this.#isListed(path)) return undefined;
    return this.#refuseUncovered(path);
  }

  /** What hides a directory may be listed, as may the way to what is shown in it; and so may the names of devices. */
  #isListed(path: string): boolean {
    const { mounts, flags } = this.#launch;
    if (flags.isAllowListKept === true || mounts.length === 0) return false;
    if (path === '/dev') return true;
    const isHidden = mounts.some((op) => op.kind === 'hide' && isAtOrBelow(path, op.path));
    return isHidden && mounts.some((op) => 'path' in op && isAtOrBelow(op.path, path));
  }

  #judgeChange(event: FileEvent): FileRefusal | undefined {
    const { op, outcome, requested, isDirectory } = event;
    const path = event.path.replace(NAMELESS, '') || '/';
    const place = this.#judgePlace(path, isDirectory === true && op !== 'mkdir');
    if (place) return place;
    const rule = op === 'symlink' ? this.rules.findRenameRefusal(path, path, true) : 0;
    if (rule) return { path, by: rule, layer: 'broker' };
    if (REMOVING.has(op) && outcome !== 'ENOENT' && outcome !== 'ENOTDIR') {
      if (this.#guard.refusesRemoval(path)) return refuseByGuard(path);
      const by = op === 'rmdir' ? this.rules.findRmdirRefusal(path) : 0;
      if (by) return { path, by, layer: 'broker' };
    }
    return OWN_DESCRIPTOR.test(requested ?? '') ? undefined : this.#judgeByKernel(path, outcome);
  }

  #judgeAttributes({ op, path, target, isDirectory }: FileEvent): FileRefusal | undefined {
    const place = this.#judgePlace(path, isDirectory === true);
    if (place) return place;
    if (!this.rules.isCovered(path, WRITE)) return { path, by: 'nothing-allows', layer: 'broker' };
    const mode = op === 'chmod' ? Number.parseInt(target ?? '', 8) : 0;
    const isRefused = this.#launch.uid === 0 && (mode & SET_ID) !== 0 && isDirectory !== true;
    return isRefused ? { path, by: 'set-user-id', layer: 'broker' } : undefined;
  }

  /** A second name for a file is a way to read and to write it. */
  #judgePair(event: FileEvent): FileRefusal | undefined {
    const { op, path, target, outcome, isDirectory = false, move } = event;
    if (target === undefined || (op === 'rename' && outcome === 'ENOTDIR' && !isDirectory))
      return undefined;
    const ends =
      this.#judgePlace(path, isDirectory, op === 'link' ? READ | WRITE : WRITE) ??
      this.#judgePlace(target, isDirectory);
    if (ends) return ends;
    const by = this.#findMoveRefusal(event, target);
    if (by) return { path: target, by, layer: 'broker' };
    const isTaken = (end: string): boolean => op === 'rename' && this.#guard.refusesRemoval(end);
    if (isTaken(path) || (move === 'exchange' && isTaken(target))) return refuseByGuard(target);
    const [first, second] = op === 'rename' ? [path, target] : [target, path];
    return this.#judgeByKernel(first, outcome) ?? this.#judgeByKernel(second, outcome);
  }

  #findMoveRefusal(event: FileEvent, target: string): number {
    const { op, path, outcome, isDirectory = false, move } = event;
    const isLink = !isDirectory && this.#isLink(outcome === 'ok' ? target : path);
    if (op === 'link') return isLink ? this.rules.findRenameRefusal(target, target, true) : 0;
    const isExchange = move === 'exchange';
    const by = this.rules.findRenameRefusal(path, target, isDirectory || isLink || isExchange);
    return by || !isExchange ? by : this.rules.findRenameRefusal(target, path, true);
  }

  /** By the rules, which are asked before the kernel is. */
  #judgePlace(path: string, isDirectory: boolean, ops = WRITE): FileRefusal | undefined {
    const by = this.rules.findRefusal(path, ops);
    if (by) return { path, by, layer: 'broker' };
    if (this.#guard.refuses(path, isDirectory)) return refuseByGuard(path);
    const isUncovered = this.#launch.flags.isAllowListKept && !this.rules.isCovered(path, ops);
    return isUncovered ? this.#refuseUncovered(path) : undefined;
  }

  #judgeByKernel(path: string, outcome: string): FileRefusal | undefined {
    const isRefused = KERNEL_OUTCOMES.has(outcome) && !this.rules.isCovered(path, WRITE);
    return isRefused ? this.#refuseUncovered(path) : undefined;
  }

  #refuseUncovered(path: string): FileRefusal {
    const layer = this.#launch.flags.isAllowListKept === true ? 'broker' : 'kernel';
    return { path, by: 'nothing-allows', layer };
  }
}

function refuseByGuard(path: string): FileRefusal {
  return { path, by: 'git-guard', layer: 'git-guard' };
}
