import type { FileEvent } from '../../observe/event.ts';
import type { Births } from './births.ts';
import type { CanonicalLine } from './canonical-line.ts';
import type { Names } from './names.ts';
import { systemClassOf } from './special-paths.ts';

export interface FileLineContext {
  readonly names: Names;
  readonly births: Births;
  /** General forms of what was made in the run. */
  readonly madeForms: ReadonlySet<string>;
  /** Paths that were opened in the run, as seen inside. */
  readonly openedPaths: ReadonlySet<string>;
  findWalk(path: string, outcome: string): string | undefined;
  addSystemRead(line: CanonicalLine): void;
}

const WRITING: ReadonlySet<string> = new Set(['create', 'write', 'truncate']);
const MAKING: ReadonlySet<string> = new Set(['create', 'mkdir', 'mknod', 'symlink']);
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
    op: foldOp(event, context.births),
    path,
    target: targetOf(event, names),
    outcome: event.outcome,
    program,
    refusedBy,
  };
  if (refusedBy !== undefined) return line;
  if (isChance(event, line, context)) return undefined;
  return (
    foldRead(event, line, context) ??
    foldSideFile(event, line, context) ??
    settle(event, line, context)
  );
}

/** What a change does, not by which call; that a file becomes executable is something of its own. */
function foldOp({ op, path, target, isDirectory }: FileEvent, births: Births): string {
  if (WRITING.has(op)) return 'write';
  if (!DESCRIBING.has(op)) return op;
  if (op !== 'chmod') return 'meta';
  const mode = Number.parseInt(target ?? '', 8);
  if ((mode & 0o6000) !== 0) return 'chmod+s';
  const isPlace = isDirectory === true || births.directories.has(path);
  return (mode & 0o111) !== 0 && !isPlace ? 'chmod+x' : 'meta';
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
  if (!context.madeForms.has(line.path)) return false;
  if (outcome === 'ENOENT') return true;
  if (outcome === 'EEXIST') return !MAKING.has(op);
  if (op === 'chown' && outcome === 'EPERM') return true;
  return op === 'unlink' && outcome === 'ok' && /\.(?:lock|lck)$/.test(line.path);
}

function foldRead(
  event: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): CanonicalLine | undefined {
  const { outcome } = event;
  if (event.op !== 'read' || outcome === 'EACCES' || outcome === 'EPERM') return undefined;
  const relative = context.findWalk(event.path, outcome);
  if (relative !== undefined) return { ...line, path: `\${UP}/${relative}` };
  if (/^\/proc\/(?:self|\$\{)/.test(line.path)) return { ...line, outcome: '*' };
  const systemClass = systemClassOf(line.path, line.program);
  if (systemClass === undefined) return undefined;
  context.addSystemRead(line);
  return { ...line, path: `${systemClass}/**`, outcome: '*' };
}

const DATABASE_SIDE = /^(.*\.(?:sqlite3?|db3?|s3db))-(?:wal|shm|journal)$/s;
const UNNAMED_SIDE = /^(.+)-(?:wal|shm)$/s;
const GIT_INDEX_LOCK =
  /^(.*\/(?:\.git|[^/]+\.git|\.git\/(?:worktrees|modules)\/.+)\/index)\.lock$/s;

/** Files that belong to another one, and come and go as their program sees fit. */
function foldSideFile(
  event: FileEvent,
  line: CanonicalLine,
  context: FileLineContext,
): CanonicalLine | undefined {
  const main = findMain(event.path, context);
  if (main === undefined) return undefined;
  const path = context.names.pathOf(main);
  const op = event.op === 'read' ? 'read' : 'write';
  return { op, path, outcome: 'ok', program: line.program };
}

function findMain(path: string, { openedPaths }: FileLineContext): string | undefined {
  const named = DATABASE_SIDE.exec(path)?.[1] ?? GIT_INDEX_LOCK.exec(path)?.[1];
  if (named !== undefined) return named;
  const main = UNNAMED_SIDE.exec(path)?.[1];
  return main !== undefined && openedPaths.has(main) ? main : undefined;
}

/** To find made what one wanted to make is as good as having made it. */
function settle(
  { op }: FileEvent,
  line: CanonicalLine,
  { madeForms }: FileLineContext,
): CanonicalLine {
  const isFound = line.outcome === 'EEXIST' && MAKING.has(op) && madeForms.has(line.path);
  return isFound ? { ...line, outcome: 'ok' } : line;
}
