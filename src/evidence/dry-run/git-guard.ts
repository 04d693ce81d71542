import type { Event, FileEvent } from '../../observe/event.ts';
import { isNamedForWriting } from '../../plan/broker.ts';
import { isAtOrBelow } from '../../plan/file-tree.ts';
import type { Plan } from '../../plan/make-plan.ts';

/*
 * What the git guard of a bounded run says, see native/guard.c. That one looks at the directories while the program runs;
 * here they are as the events tell, and where those are silent, as they are after the run.
 */

const MARKS: ReadonlySet<string> = new Set(['HEAD', 'objects', 'commondir']);
const CONFIGS: ReadonlySet<string> = new Set(['config', 'config.worktree']);
const GUARDED: ReadonlySet<string> = new Set([...MARKS, ...CONFIGS, 'refs', '.git']);

const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
const REMOVING: ReadonlySet<string> = new Set(['unlink', 'rmdir']);

export interface GuardInput {
  readonly launch: Plan['launch'];
  readonly events: readonly Event[];
  readonly isPrivate: (path: string) => boolean;
  /** After the run. */
  readonly isThere: (path: string) => boolean;
}

export class GitGuard {
  readonly #input: GuardInput;
  /** Whether a name was there when it was first heard of. */
  readonly #first = new Map<string, boolean>();
  /** What has become of it in a bounded run. */
  readonly #now = new Map<string, boolean>();
  /** Directories that the run has moved and that are not yet told of: their names are looked for where they lie now. */
  readonly #moves: FileEvent[] = [];
  readonly #bornDirs = new Set<string>();
  readonly #madeFiles = new Set<string>();

  constructor(input: GuardInput) {
    this.#input = input;
    for (const event of input.events) {
      if (event.kind !== 'file') continue;
      this.#learn(event);
      if (isMoveOfDirectory(event)) this.#moves.push(event);
    }
  }

  /** Of what is to be made, changed or removed there. */
  refuses(path: string, isDirectory: boolean): boolean {
    if (!this.#isGuarded(path)) return false;
    if (this.#isHook(path)) return true;
    const name = nameOf(path);
    if (name === '.git') return this.#has(path) && !isDirectory && !this.#madeFiles.has(path);
    if (!CONFIGS.has(name) && name !== 'commondir') return false;
    if (this.#madeFiles.has(path) && this.#has(path)) return false;
    if (CONFIGS.has(name) && isNamedForWriting(this.#input.launch.brokerRules, path)) return false;
    const dir = parentOf(path);
    return !this.#bornDirs.has(dir) && (this.#isRepository(dir) || this.#isCommonDir(dir));
  }

  /** What makes a directory a repository stays. */
  refusesRemoval(path: string): boolean {
    if (!this.#isGuarded(path) || !MARKS.has(nameOf(path))) return false;
    const dir = parentOf(path);
    return !this.#bornDirs.has(dir) && this.#isRepository(dir);
  }

  /** To be told of every event in order. What would be refused leaves everything as it is. */
  note(event: FileEvent, isRefused: boolean): void {
    if (this.#moves[0] === event) this.#moves.shift();
    if (event.outcome !== 'ok' || isRefused) return;
    const { op, path, target } = event;
    if (REMOVING.has(op)) this.#forget(path);
    if (MAKING.has(op)) this.#remember(path);
    if ((op !== 'rename' && op !== 'link') || target === undefined) return;
    if (isMoveOfDirectory(event)) this.#move(path, target);
    if (op === 'rename') this.#forget(path);
    this.#remember(target);
  }

  #isGuarded(path: string): boolean {
    const { launch, isPrivate } = this.#input;
    return launch.flags.isGitGuarded === true && path.startsWith('/') && !isPrivate(path);
  }

  #isHook(path: string): boolean {
    for (const { 0: found, index } of path.matchAll(/\/hooks(?=\/|$)/g)) {
      const end = index + found.length;
      if (isNamedForWriting(this.#input.launch.brokerRules, path, path.slice(0, end))) continue;
      const dir = path.slice(0, index);
      if (this.#isRepository(dir)) return true;
      if (isHookName(path.slice(end)) && this.#isCommonDir(dir)) return true;
    }
    return false;
  }

  #isRepository(dir: string): boolean {
    return (
      this.#has(`${dir}/HEAD`) && (this.#has(`${dir}/objects`) || this.#has(`${dir}/commondir`))
    );
  }

  #isCommonDir(dir: string): boolean {
    return this.#has(`${dir}/objects`) && this.#has(`${dir}/refs`);
  }

  #has(path: string): boolean {
    const known = this.#now.get(path) ?? this.#first.get(path);
    if (known !== undefined) return known;
    let at = path;
    for (const { path: from, target = '' } of this.#moves)
      if (isAtOrBelow(at, from)) at = target + at.slice(from.length);
    return this.#input.isThere(at);
  }

  /** The first that is heard of a name tells whether it was there before. */
  #learn({ op, path, target, outcome, isReplacing }: FileEvent): void {
    const isMissing = outcome === 'ENOENT' || (outcome === 'ok' && MAKING.has(op));
    if (isMissing || outcome === 'ok') this.#learnOne(path, !isMissing);
    if (outcome === 'ok' && (op === 'rename' || op === 'link') && target !== undefined)
      this.#learnOne(target, isReplacing === true);
  }

  #learnOne(path: string, isThere: boolean): void {
    if (GUARDED.has(nameOf(path)) && !this.#first.has(path)) this.#first.set(path, isThere);
  }

  #remember(path: string): void {
    const name = nameOf(path);
    if (!GUARDED.has(name)) return;
    const dir = parentOf(path);
    const isBirth = MARKS.has(name) || (name === 'refs' && !this.#isRepository(dir));
    if (isBirth && !this.#has(path)) this.#bornDirs.add(dir);
    if (CONFIGS.has(name) || name === 'commondir' || name === '.git') this.#madeFiles.add(path);
    this.#now.set(path, true);
  }

  #forget(path: string): void {
    if (!GUARDED.has(nameOf(path))) return;
    this.#madeFiles.delete(path);
    this.#now.set(path, false);
  }

  #move(from: string, to: string): void {
    const moved = (path: string): string => to + path.slice(from.length);
    const isBelow = (path: string): boolean => isAtOrBelow(path, from);
    for (const set of [this.#bornDirs, this.#madeFiles])
      for (const path of Array.from(set).filter(isBelow)) {
        set.delete(path);
        set.add(moved(path));
      }
    for (const map of [this.#first, this.#now])
      for (const [path, isThere] of Array.from(map).filter(([path]) => isBelow(path)))
        this.#now.set(moved(path), isThere);
  }
}

function isMoveOfDirectory({ op, outcome, isDirectory, move, target }: FileEvent): boolean {
  const isMoved = op === 'rename' && outcome === 'ok' && target !== undefined;
  return isMoved && isDirectory === true && move !== 'none' && move !== 'back';
}

/** Called as git calls hooks: a project may have directories `objects`, `refs` and `hooks` of its own. */
function isHookName(below: string): boolean {
  return !below.includes('.') && below.split('/').length <= 2;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
