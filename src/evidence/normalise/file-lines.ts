import type { FileEvent } from '../../observe/event.ts';
import type { Births } from './births.ts';
import type { CanonicalLine } from './canonical-line.ts';
import { isObjectDirectory } from './git-trees.ts';
import type { Names } from './names.ts';
import {
  isAboutMachine,
  isCcacheCount,
  isTranslation,
  isUserLookup,
  systemClassOf,
} from './special-paths.ts';
import { MISSING } from './walks.ts';

export interface FileLineContext {
  readonly names: Names;
  readonly births: Births;
  isMade(path: string, form: string): boolean;
  /** The file that a file belongs to, if it is one that comes and goes with another. */
  findMain(path: string): string | undefined;
  /** Whether the image `program` made the file or directory. */
  isMaker(program: string, path: string): boolean;
  /** The same of a symbolic link. */
  isLinkMaker(program: string, path: string): boolean;
  /** Whether nobody finds the path after the run. */
  isPassing(path: string): boolean;
  /** The place in ${HOME} that a place in the home of the account stands for. */
  findInHome(path: string): string | undefined;
  /** Whether a directory has one of the places of the run below it. */
  isAbovePlace(path: string): boolean;
  isGitRead(path: string, image: string): boolean;
  isFreshened(path: string): boolean;
  findWalk(path: string, outcome: string): string | undefined;
  addSystemRead(line: CanonicalLine): void;
}

const WRITING: ReadonlySet<string> = new Set(['create', 'write', 'truncate']);
const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
const LISTING: ReadonlySet<string> = new Set(['read', 'mkdir', 'rmdir']);
const DESCRIBING: ReadonlySet<string> = new Set(['chmod', 'chown', 'utimes', 'xattr']);

/** The line of one file event, or undefined when it says nothing that another line does not say. */
export function makeFileLine(
  event: FileEvent,
  context: FileLineContext,
  program: string,
  refusedBy: string | undefined,
): CanonicalLine | undefined {
  const { names } = context;
  const path = names.pathOf(event.path, event.requested);
  const line: CanonicalLine = {
    op: foldOp(event, context, program),
    path,
    target: targetOf(event, names),
    outcome: event.outcome,
    program,
    refusedBy,
    atMs: event.atMs,
    basis: event.basis,
  };
  if (refusedBy !== undefined) return line;
  if (isChance(event, line, context)) return undefined;
  return (
    foldRead(event, line, context) ??
    foldSideFile(event, line, context) ??
    settle(event, line, context)
  );
}

/**
 * What a change does, not by which call; that a file becomes executable is something of its own, unless its maker does
 * it, who could have made it executable at once.
 */
function foldOp(
  { op, path, target, isDirectory }: FileEvent,
  context: FileLineContext,
  program: string,
): string {
  if (WRITING.has(op)) return 'write';
  if (!DESCRIBING.has(op)) return op;
  if (op !== 'chmod') return 'meta';
  const mode = Number.parseInt(target ?? '', 8);
  if ((mode & 0o6000) !== 0) return 'chmod+s';
  if ((mode & 0o111) === 0) return 'meta';
  const isPlace = isDirectory === true || context.births.directories.has(path);
  return isPlace || context.isMaker(program, path) ? 'meta' : 'chmod+x';
}

function targetOf({ op, path, target }: FileEvent, names: Names): string | undefined {
  if (target === undefined) return undefined;
  if (op === 'rename' || op === 'link') return names.pathOf(target);
  return op === 'symlink' ? names.linkTextOf(target, path) : undefined;
}

/** Outcomes that depend on who came first. */
function isChance(event: FileEvent, line: CanonicalLine, context: FileLineContext): boolean {
  const { op, outcome } = event;
  if (outcome === 'EINTR') return true;
  if (op === 'read' && line.path === line.program) return true;
  if (op === 'read' && MISSING.has(outcome))
    if (isUserLookup(event.path) || isTranslation(event.path)) return true;
  if (op === 'read' && isCcacheCount(line.path, line.program)) return true;
  if (op === 'read' && isAboutMachine(event.path)) {
    context.addSystemRead(line);
    return true;
  }
  if (op === 'read' && outcome === 'ok' && context.isGitRead(event.path, line.program)) return true;
  if (LISTING.has(op) && isObjectDirectory(event.path, line.program)) return true;
  if (op === 'utimes' && context.isFreshened(event.path)) return true;
  if (op === 'mkdir' && outcome === 'EEXIST' && context.isAbovePlace(event.path)) return true;
  if (outcome === 'ok' && isOwnBusiness(event, line, context)) return true;
  if (!context.isMade(event.path, line.path)) return false;
  if (outcome === 'ENOENT') return true;
  if (outcome === 'EEXIST') return !MAKING.has(op);
  if (op === 'chown' && outcome === 'EPERM') return true;
  if (op !== 'unlink' || outcome !== 'ok') return false;
  return /\.(?:lock|lck)$/.test(line.path) || context.births.sockets.has(event.path);
}

/**
 * What a program does with what it has made: whether it reads its passing files again depends on who of its processes
 * was first, and whether it sets times that are right by chance depends on the moment. A symbolic link has nothing but
 * times and an owner, and who is not root gives none away.
 */
function isOwnBusiness(
  { op, path }: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): boolean {
  const isMeta = line.op === 'meta' && op !== 'xattr';
  if (!isMeta && op !== 'read') return false;
  const isFile = context.isMaker(line.program, path);
  if (isMeta && !isFile && context.isLinkMaker(line.program, path)) return true;
  const canBeLeftOut =
    context.isPassing(path) || (op === 'utimes' && context.births.directories.has(path));
  return canBeLeftOut && isFile;
}

function foldRead(
  event: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): CanonicalLine | undefined {
  const { outcome } = event;
  if (event.op !== 'read') return undefined;
  // Also what the kernel keeps from others: whether it does depends on the moment at which a process is looked at.
  if (/^\/proc\/(?:self|\$\{)/.test(line.path)) return { ...line, outcome: '*' };
  if (outcome === 'EACCES' || outcome === 'EPERM') return undefined;
  const above = context.findWalk(event.path, outcome);
  if (above !== undefined) return { ...line, path: above };
  const inHome = MISSING.has(outcome) ? context.findInHome(event.path) : undefined;
  if (inHome !== undefined) return { ...line, path: context.names.pathOf(inHome) };
  const systemClass = systemClassOf(line.path, line.program);
  if (systemClass === undefined) return undefined;
  context.addSystemRead(line);
  return { ...line, path: `${systemClass}/**`, outcome: '*' };
}

/** Files that belong to another one, and come and go as their program sees fit. */
function foldSideFile(
  event: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): CanonicalLine | undefined {
  const main = context.findMain(event.path);
  if (main === undefined) return undefined;
  const path = context.names.pathOf(main);
  const op = event.op === 'read' ? 'read' : 'write';
  const { program, atMs, basis } = line;
  return { op, path, outcome: 'ok', program, atMs, basis };
}

/** To find made what one wanted to make is as good as having made it. */
function settle(
  { op, path }: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): CanonicalLine {
  const isFound = line.outcome === 'EEXIST' && MAKING.has(op) && context.isMade(path, line.path);
  return isFound ? { ...line, outcome: 'ok' } : line;
}
